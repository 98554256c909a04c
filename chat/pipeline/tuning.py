"""Constants that tune understanding, evidence and quoting, each with its source; pure.

Others stand elsewhere. Thresholds of the evidence and the number of sources belong to profiles
(`chat.pipeline.retrieval.profiles`). The thresholds of fitted models are stored with them: cries for help in
`understanding/fitted.npz`, the check of sentences in `verification/`. Retrieval's are in `knowledge.retrieval.tuning`.
"""

#: Earlier questions that a follow-up may go on from. Not measured: further back the topic is another one.
FOLLOWED_TURNS = 3
#: With so few topic words of its own, a question needs those before it. Chosen by hand.
FEW_WORDS = 2
#: Share of a model's rewritten question that must have been said before, and of the student's words that it must keep.
#: They refuse answers and inventions in place of a question (docs/decisions/0011-understanding-a-question.md).
LEAST_SAID, LEAST_KEPT = 0.6, 0.5
#: Passages compared for asking back. Not measured: one that ranks lower adds what nobody would miss.
COMPARED_PASSAGES = 4

#: Weights of the evidence: the best similarity, and the question's words that a passage has. Set on the demo; a fit on
#: more signals was no better on other sets (docs/decisions/0009-evidence.md).
SIMILARITY_WEIGHT, COVERAGE_WEIGHT = 0.8, 0.2

#: Passages whose sentences are compared, and sentences that are quoted at most. Not measured.
QUOTED_PASSAGES, QUOTED_SENTENCES = 6, 3
#: A further sentence is quoted only if its score is this close to the best one's. Chosen by hand on the demo's pages.
QUOTE_MARGIN = 0.12
#: Weight of the share of the question's words that a sentence has, beside its similarity. Chosen by hand.
LEXICAL_SHARE = 0.5
#: What each place lower in the ranking costs a sentence. It only decides between equals.
RANK_PENALTY = 0.01
#: Bonus of a sentence with a figure, if the question asks for one. Chosen by hand on the demo's pages.
FIGURE_BONUS = 0.15
#: Bonus of a sentence about the year or term that the question names. More than QUOTE_MARGIN: no vaguer sentence is
#: quoted beside it.
PERIOD_BONUS = 0.15
#: From this similarity on, passages of a curated FAQ are preferred, the more the closer the FAQ is. Chosen by hand.
LEAST_FAQ_SIMILARITY = 0.6
#: Weight of the words of a FAQ's key points. Chosen by hand on the demo's FAQs.
HINT_SHARE = 0.8

#: Curated questions offered with an abstention, and how close they must be. Chosen by hand on the demo's pages.
RELATED, LEAST_RELATED_SIMILARITY = 3, 0.35
