from core.diffs import compare


def test_a_figure_that_changed_is_marked_as_a_whole() -> None:
    lines = compare("The fee is 318.40 euros by 10:15.", "The fee is 312.40 euros by 10:45.").lines
    assert [[part.text for part in line.parts if part.is_changed] for line in lines] == [
        ["318.40", "10:15"],
        ["312.40", "10:45"],
    ]
