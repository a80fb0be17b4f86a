"""Names that workers and those who look after them share."""

from typing import Final

GROUP: Final = "process"
"""The consumer group of the workers on `conversations.captured`; its offsets say what is processed."""
