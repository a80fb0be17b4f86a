"""`make bench`: speed and memory, beside the floor and a peer, in the same run."""
