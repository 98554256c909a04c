ROLES = ("Curator", "Reviewer", "Analyst", "Administrator", "Whole", "Nobody")
DOORS={}
ACTIONS={}
API={}
PUBLIC={}
