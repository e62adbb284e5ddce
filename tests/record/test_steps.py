from stepscope.record.steps import StepFinder

MAIN, OTHER = 1, 2


def test_batches_are_steps_until_an_optimizer_steps():
    finder = StepFinder()
    assert finder.loader_begins(7, MAIN) == (True, True)
    assert finder.loader_begins(7, MAIN) == (True, False)
    assert finder.marks_steps(7)
    assert finder.optimizer_stepped(5, MAIN, may_move=True) == (True, True)
    assert finder.loader_begins(7, MAIN) == (False, False)
    assert finder.optimizer_stepped(5, MAIN, may_move=True) == (True, False)
    assert finder.source == "optimizer"
    assert not finder.marks_steps(7)


def test_a_thread_that_loads_ahead_marks_nothing():
    finder = StepFinder()
    finder.loader_begins(7, MAIN)
    assert finder.loader_begins(7, OTHER) == (False, False)


def test_training_may_move_to_another_thread_between_windows_only():
    finder = StepFinder()
    finder.optimizer_stepped(5, MAIN, may_move=True)
    assert finder.optimizer_stepped(5, OTHER, may_move=False) == (False, False)
    assert finder.thread == MAIN
    assert finder.optimizer_stepped(5, OTHER, may_move=True) == (True, False)
    assert finder.thread == OTHER


def test_marks_by_hand_overrule_everything():
    finder = StepFinder()
    finder.optimizer_stepped(5, MAIN, may_move=True)
    assert finder.marked(MAIN) == (True, True)
    assert finder.marked(MAIN) == (True, False)
    assert finder.optimizer_stepped(5, MAIN, may_move=True) == (False, False)
    assert finder.loader_begins(7, MAIN) == (False, False)
