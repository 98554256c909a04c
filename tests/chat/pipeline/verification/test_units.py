"""A passage falls into sentences, list items and table rows, each with what it stands under."""

from chat.pipeline.verification.units import split_units

PAGE = """## Fees

Payment is **blocked** if

- the insurer reports arrears,
- fees of more than €50 are open.

| Offer | Students | Guests |
|---|---|---|
| Gym pass | €20 | €70 |

### Refund

Refunds are [possible](https://uni.example/refund). They take two weeks.
"""


def test_a_table_row_names_its_columns_and_stands_under_title_and_heading():
    row = next(unit for unit in split_units(PAGE, "Sports") if unit.cells)
    assert row.text == "Offer: Gym pass; Students: €20; Guests: €70"
    assert row.context == "Sports. Fees."


def test_a_list_item_comes_with_the_sentence_that_leads_to_it():
    item = split_units(PAGE, "Sports")[1]
    assert item.shown == "Payment is blocked if the insurer reports arrears,"


def test_a_sentence_that_points_back_is_shown_with_the_one_before():
    last = split_units(PAGE, "Sports")[-1]
    assert last.shown == "Refunds are possible. They take two weeks."
    assert "Refund" in last.context


def test_a_sentence_that_a_page_break_cut_in_two_is_one_again():
    units = split_units("Requests must be filed\n\nwithin three months of the purchase.")
    assert [unit.text for unit in units] == ["Requests must be filed within three months of the purchase."]
