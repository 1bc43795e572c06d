"""The capstone: one night, twelve faults, and the harness that the learner has put together."""
