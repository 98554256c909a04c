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
#: The best sentences' mean cosine with the question adds to the evidence, or takes from it below the middle. Three sets
#: of questions are better with any weight from 3 to 8; 3 costs other sets least (docs/decisions/0009-evidence.md).
WEIGHED_SENTENCES, CLOSENESS_WEIGHT, MIDDLE_CLOSENESS = 4, 4.0, 0.837

#: From this lead in similarity on, a passage of another year or term than the question's says that there is no answer.
#: Of 26 questions with a year or term, 3 of 10 without an answer have such a lead (0.08 to 0.12), none of 16 with one.
CLOSER_PERIOD = 0.07

#: Passages in another language than the question's that are among the sources. Of ten questions whose page is in the
#: other language all have it there; words of the question find it for half.
OTHER_LANGUAGE_SHARE = 2

#: Passages whose sentences are compared with the question; the answer is made from those with the best ones. With 6 the
#: right sentence of held-out questions was among them for 119 of 149, with 14 and two of the other language for 134.
READ_PASSAGES = 14
#: Passages that are read besides, of sections that a question names, if they have the label that it asks for. Not
#: measured: a handbook has one a module and label, and several editions of it may be found.
MOST_OF_SECTIONS = 6
#: Sentences that are quoted at most, and how close to the best one's score a further one must be: more of either
#: brought few right answers more (`benchmarks.sentence_ranking`).
QUOTED_SENTENCES, QUOTE_MARGIN = 4, 3.5
#: Words of quoted sentences and rows of a quoted table at most; a longer table shows the row that answers.
MOST_PROSE_WORDS, MOST_TABLE_ROWS = 60, 12
#: Words of a sentence or list, at most, that is quoted beside the best one. Of 25 to 40 the best on cmu-handbooks; no
#: student's question lost by it.
MOST_FURTHER_WORDS = 35
#: Bonus of a sentence about the year or term that the question names. More than QUOTE_MARGIN: no vaguer sentence is
#: quoted beside it.
PERIOD_BONUS = 6.0
#: Bonus of a row with a value under the label that is asked for, in a section that the question names. As much.
LABEL_BONUS = 6.0
#: From this similarity to a curated FAQ on, a message is no small talk. Of 929 examples of small talk two are so close
#: to one of the demo's FAQs.
LEAST_CURATED_SIMILARITY = 0.4
#: The same for a wish for a person, unless the FAQ is one itself. Of 65 wishes with what they are about, none was more
#: than 0.66 similar to one of the demo's FAQs.
LEAST_SIMILARITY_OF_PERSONS = 0.75
#: From this cosine on, without what texts of a language have in common, a contact is for the matter of a wish for a
#: person: chosen on 60 wishes (docs/decisions/0028-kinds-of-messages.md).
LEAST_MATTER_CLOSENESS = 0.2
#: From this similarity on, passages of a curated FAQ are preferred, the more the closer the FAQ is. Chosen by hand.
LEAST_FAQ_SIMILARITY = 0.6
#: Bonus of a sentence of a passage that a FAQ points to, and thrice that if it has the FAQ's key points. By hand on the
#: demo's FAQs.
HINT_BONUS = 3.0
#: From this similarity on the FAQ itself was asked: this bonus puts what its passages say before other pages. By hand.
ASKED_SIMILARITY, ASKED_BONUS = 0.95, 9.0

#: How close the best sentence of an FAQ's pages must be to the question, as a cosine without what texts of a language
#: have in common; else the page is the wrong one, or says it in no sentence. All of the demo's 148 ways to ask have a
#: closer sentence on their own page; with three pages by chance, 71 % of 72 questions that no page answers have none
#: (docs/decisions/0065-pages-that-do-not-answer.md).
LEAST_TOPIC_CLOSENESS = 0.22

#: When a question surely means an FAQ, so that staff's own answer to it is shown first: the retriever's full confidence
#: (`faqs.retriever.confidence`), and no other FAQ less than this behind, unless it is this similar. Of the demo's 148
#: ways to ask, each left out in turn, 54 get their own FAQ's answer and 7 another's; with all of its FAQ left out, 10.
LEAST_ANSWER_CONFIDENCE, LEAST_ANSWER_LEAD, SURE_SIMILARITY = 1.0, 0.1, 0.8
#: Share of the question's words, weighed by rarity, that a passage needs to be quoted below staff's own answer if its
#: page is not linked with the FAQ. Chosen by hand.
LEAST_TOPIC_SHARE = 0.6

#: Curated questions offered with an abstention, and how close they must be. Chosen by hand on the demo's pages.
RELATED, LEAST_RELATED_SIMILARITY = 3, 0.35
#: Below an answer, a curated question this close to the one asked is the same in other words.
SAME_QUESTION_SIMILARITY = 0.85
