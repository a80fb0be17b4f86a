"""The import report loses nothing: seen is the sum of its parts, however much there is to name."""

from schemas.report import MAX_LISTED, FileReport, summarise, to_json


def test_seen_is_the_sum_of_its_parts() -> None:
    report = FileReport(path="a")
    report.emit(3)
    report.skip("empty", "label", 2)
    report.skip("hidden", "system")
    report.skip("duplicate", "known event", 4)
    report.reject("a: byte 1", "invalid-json")
    assert report.seen == 11
    assert (report.emitted, report.empty, report.hidden, report.duplicate, report.rejected_count) == (3, 2, 1, 4, 1)
    assert report.skipped == {"label": 2, "system": 1, "known event": 4}


def test_a_file_of_garbage_does_not_fill_the_report() -> None:
    """The first rejections are named, all are counted."""
    report = FileReport(path="a")
    for number in range(MAX_LISTED + 5):
        report.reject(f"a: byte {number}", "invalid-json")
        report.warn("w")
    assert len(report.rejected) == MAX_LISTED
    assert report.rejected_count == report.seen == MAX_LISTED + 5
    assert summarise([report]).totals.rejected == MAX_LISTED + 5
    assert summarise([report]).totals.warnings == MAX_LISTED + 5


def test_totals_add_up_and_tell_of_failure() -> None:
    good, bad = FileReport(path="a", recognised_as="pi session", conversations=1), FileReport(path="b", error="no")
    good.emit(2)
    report = summarise([good, bad])
    assert report.failed
    totals = report.totals
    assert (totals.files, totals.unrecognised, totals.failed, totals.emitted) == (2, 1, 1, 2)
    assert b'"recognisedAs": "pi session"' in to_json(report)
