"""Questions in English and German that mean the same: what shows where a model's cosines lie between two languages."""

PAIRS = (
    ("How much is the semester fee?", "Wie hoch ist der Semesterbeitrag?"),
    ("When does the library close?", "Wann schließt die Bibliothek?"),
    ("How do I reset my password?", "Wie setze ich mein Passwort zurück?"),
    ("Where can I park my car?", "Wo kann ich mein Auto parken?"),
    ("How long is a bachelor's thesis?", "Wie lang ist eine Bachelorarbeit?"),
    ("Can I study abroad for a year?", "Kann ich ein Jahr im Ausland studieren?"),
    ("What if I am ill on the day of an exam?", "Was ist, wenn ich am Tag der Prüfung krank bin?"),
    ("Is there a vegan menu in the canteen?", "Gibt es in der Mensa ein veganes Menü?"),
    ("How do I rent a room in a hall?", "Wie miete ich ein Zimmer im Wohnheim?"),
    ("Who helps me with writing a CV?", "Wer hilft mir, einen Lebenslauf zu schreiben?"),
    ("How do I apply for a master's programme?", "Wie bewerbe ich mich für einen Master?"),
    ("What does the Germany ticket cost?", "Was kostet das Deutschlandticket?"),
    ("When are the dean's office hours?", "Wann ist die Sprechstunde der Dekanin?"),
    ("How do I deregister from the university?", "Wie lasse ich mich exmatrikulieren?"),
    ("Who looks after students with children?", "Wer betreut Studierende mit Kind?"),
    ("How do I print on campus?", "Wie drucke ich auf dem Campus?"),
    ("Which sports courses are there?", "Welche Sportkurse gibt es?"),
    ("How do I get a scholarship?", "Wie bekomme ich ein Stipendium?"),
    ("When does the lecture period begin?", "Wann beginnt die Vorlesungszeit?"),
    ("How do I set up the wifi?", "Wie richte ich das WLAN ein?"),
)
