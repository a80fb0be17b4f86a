"""Writes the case's input into a folder: the image is 3 MB of Base64, too much to keep in the repository."""

import sys
from pathlib import Path

here = Path(__file__).parent
text = (here / "template.txt").read_text("utf-8").replace("<3 MB of base64>", "QmlyY2hCYXJr" * 262_144)
(Path(sys.argv[1]) / "input.jsonl").write_text(text, "utf-8")
