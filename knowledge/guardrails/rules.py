"""The rules of `knowledge.guardrails.injection` for questions, by the name of their sign; those for pages are in
`knowledge.guardrails.page_rules`.

They are over folded text (`knowledge.guardrails.deobfuscation`): lower case, no marks, so "für" is "fur". English and
German, with the usual forms of the first sign in French, Spanish, Italian, Portuguese, Dutch, Polish, Serbo-Croatian,
Turkish and Russian. Every gap is bounded in words or characters, so the cost is linear in the text.
"""

from collections.abc import Mapping

#: Patterns as text: to compile them all would be a twentieth of every process's start, and few processes need them.
Rules = Mapping[str, str]


def gap(words: int) -> str:
    """Build a pattern of at most `words` words within the sentence, and the blank before the next."""
    return rf"(?:[^\w.!?\n]++\w++){{0,{words}}}?[^\w.!?\n]++"


def join_patterns(*patterns: str) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


#: Where an order begins: a sentence, a colon or dash, or after a word that orders are given with.
ORDER = (
    r"(?:(?:^|[.!?:;\n\"'>)\]}*]|\\n| -)[ ]{0,3}"
    r"|\b(?:please|pls|now|then|just|instead|you (?:must|should|shall|will)|i (?:want|need|command|order) you to"
    r"|(?:can|could|will) you|bitte|jetzt|nun|dann|stattdessen|forget everything,?) )"
    r"(?:please |pls |now |then |just |only |also |simply |bitte |jetzt |nun |mir |stop[,:]? |stopp[,:]? )*"
)
_IGNORE = (
    r"\b(?:ignor(?:e|ing)|disregard|forget(?: about)?|override|bypass|neglect|"
    r"(?:do not|don'?'?n?t|never) (?:follow|obey|adhere to|listen to|look (?:in|at)|use|consider)|"
    r"contrary to|regardless of|instead of following)"
)
_DROP = (
    r"\b(?:ignor(?:e|ing)|disregard|forget(?: about)?|override|overrule|bypass|discard|drop|abandon|neglect|"
    r"erase|delete|dismiss|unlearn|leave aside|put aside|remove|clear|stop following|pay no attention to|"
    r"(?:do not|don'?'?n?t|never) (?:follow|obey|adhere to|listen to|look (?:in|at)|use|consider|answer)|"
    r"deviat\w+ from|contrary to|regardless of|instead of following|rather than following)"
)
_RULES = (
    r"(?:instructions?|orders?|directives?|rules|guidelines|prompts?|commands?|constraints|restrictions|programming"
    r"|training|guardrails|safeguards|assignments?|tasks?|safety (?:rules|filters?|measures))\b"
)
_YOURS = (
    r"(?:your|all|any|every|these|those|the (?:previous|above|prior|system|earlier|preceding|initial|original|old)|"
    r"previous|prior|above|preceding|earlier|system|initial|original|former|existing|foregoing)"
)
_MATERIAL = r"(?:documents?|articles?|artikels|sources?|context|passages?|text|information|data|messages?|conversation)"
_EARLIER = r"(?:previous|prior|preceding|above|earlier|provided|given|foregoing|all (?:of )?the|these|those)"
_VERGISS = (
    r"\b(?:vergiss|vergesst|vergessen(?: sie)?|vernachlassig(?:e|en|en sie)|verzichte|ignorieren"
    r"|achte nicht auf|ignorier(?:e|en sie|t)?|missachte|verwirf|verwerfen sie|loesche|losche|"
    r"streiche|ubergehe|uberschreibe|umgehe|befolge nicht|folge nicht|beachte nicht|abweichend|entgegen|"
    r"lass(?:en sie)?|entferne|halte dich nicht an)\b"
)
_ALTES = (
    r"(?:anweisung(?:en)?|instruktion(?:en)?|befehle?|auftrage?|aufgaben|regeln|richtlinien|vorgaben|angaben|"
    r"vorschriften|prompts?|dokumente|artikel|informationen|eingaben|nachrichten)\b"
)
_ALLES = (
    r"alle[sn]?,?(?: (?:davor|vorher\w*|zuvor\w*|gesagte|gelernte|bisherige|dir|du|ich"
    r"|obige|zuvor|vorangegangene|was|andere|bisher)\b|[.!]|$)"
)
_WRITING = (
    r"(?:essays?|poems?|poetry|songs?|lyrics|story|stories|novel|manifest\w*|plea|speech|headlines?|jokes?|rap|haiku|"
    r"limerick|tweets?|blog ?posts?|swear ?words|insults?|code|c\+\+|python|javascript|program|script|malware|"
    r"love letter|letter to|articles?|reviews?|slogans?|dialogues?|scenes?|satires?|paragraphs?|advertisement"
    r"|propaganda)(?!\w)"
)
_TEXTE = (
    r"(?:aufsatz\w*|essay|gedicht|lied|liebesbrief|roman|manifest|pladoyer|rede|uberschrift|schlagzeile|witz|"
    r"geschichte|begrundung|artikel|brief|slogan|dialog|szene|satire|argumentation|werbung|loblied|bericht uber|"
    r"code|c\+\+|python\W?\W?code|programm|skript|schimpfworter|werbetext|hetz\w+|text daruber)"
    r"(?!\w)"
)

OVERRIDE = join_patterns(
    rf"{_DROP}(?: \w+){{1,2}} {_RULES}(?: that| which)? (?:you (?:were|have|got)|i gave|above|from above|before)\b",
    rf"{_DROP}{gap(4)}{_YOURS}{gap(3)}{_RULES}",
    rf"{_DROP} {_YOURS} (?:{_EARLIER} )?{_RULES}",
    rf"{_IGNORE}(?: (?:all|any|the|of))*[ ](?:{_EARLIER}|your)(?:{gap(2)}|[ ]){_MATERIAL}\b",
    rf"{_IGNORE}(?: (?:the|all|any))* {_MATERIAL} (?:provided|above|given)\b",
    rf"{_DROP}{gap(5)}accord\w+ to the (?:provided|given|above)",
    rf"{ORDER}(?:ignore|disregard|forget)(?: about)? everything\b",
    rf"{_DROP} (?:everything|anything|all|what(?:ever)?)(?: that| which)? (?:(?:was|is|has been|i|you|we) )?"
    r"(?:and|before|above|prior|previous\w*|you know|(?:have )?(?:been )?(?:told|said|learn\w*|discussed|know)|"
    r"written|beforehand|i said|so far)\b",
    r"\b(?:change|replace|update|rewrite|overwrite) your (?:instructions?|rules|prompt|guidelines|programming)\b",
    rf"\b(?:new|additional|updated|further|more|next|real|actual) (?:{gap(1)})?(?:instructions?|tasks?|orders?) "
    r"(?:follow|are (?:as follows|here)|now|begin|will follow|for you|-|:)",
    r"\b(?:additional|new|updated|override|hidden|secret|system) instructions? ?[:-]",
    r"\b(?:your|a) new (?:task|goal|objective|mission|assignment|instruction|role)s? (?:is|are|now|will|:|,|for|in|"
    r"namely|-)|\byour new (?:task|instruction|objective|goal)s?\b|\bnow (?:the )?new (?:tasks?|instructions?)\b",
    r"\b(?:start|begin) (?:all )?(?:over|again|anew|from scratch|afresh)\b[^.!?\n]{0,30}\b(?:task|instruct|role)",
    r"(?:^|[.!?:] |\bund |\bbitte )(?:fang\w*|beginn\w*|start\w*)(?: sie| wir"
    r"| bitte)?(?: \w+){0,3} von (?:vorne?|neuem)\b",
    r"\b(?:zuruck|zurueck|back) (?:zum anfang|auf anfang|to the (?:start|beginning))\b",
    r"\b(?:focus|concentrate) (?:only |now |instead )?on (?:the|your|my) (?:new|following|next)\b",
    r"\bkonzentrier\w* (?:dich|sie sich|euch) (?:\w+ ){0,3}auf\b[^.!?\n]{0,25}\b(?:neue|folgende|nachste)\w* ",
    r"\b(?:answer|reply|respond)\b[^.!?\n]{0,40}\b(?:not|without)\b[^.!?\n]{0,15}"
    r"\b(?:articles?|documents?|sources|context)\b",
    r"\b(?:your own (?:knowledge|opinion)|what you (?:really )?(?:know|think))\b[^.!?\n]{0,20}\bnot\b",
    rf"{_VERGISS}(?:{gap(5)}|[ ]){_ALTES}",
    rf"{_VERGISS}(?:{gap(1)}|[ ]){_ALLES}",
    r"\b(?:nun|jetzt|es) folg(?:en|t) (?:jetzt |nun )?(?:eine? )?(?:neue|weitere|andere)[nrs]? "
    r"(?:aufgabe|anweisung|instruktion|auftrag)",
    r"\b(?:deine?[nr]?|ihre?[nr]?|eine[rn]?) neuen? (?:aufgabe|anweisung|instruktion|auftrag|mission|ziel|"
    r"herausforderung)(?:en)?\b[^.!?\n]{0,40}(?:[:.]|$|\bfur dich\b|\bnamlich\b)",
    r"\b(?:neue|zusatzliche|geheime|wichtige) (?:anweisung|instruktion)(?:en)? ?[:-]",
    r"\b(?:oublie[zrs]?|ignore[zrs]?|neglige[zrs]?)\b[^.!?\n]{0,30}\b(?:instructions?|consignes|regles|precede)",
    r"\b(?:olvida|olvide|olviden|ignora|ignore|omite|descarta)\b[^.!?\n]{0,30}"
    r"\b(?:instrucci\w+|ordenes|reglas|anterior\w*|antes)\b",
    r"\b(?:dimentica|ignora|trascura)\b[^.!?\n]{0,30}\b(?:istruzioni|regole|precedent\w+)\b",
    r"\b(?:esqueca|esquece|ignore)\b[^.!?\n]{0,30}\b(?:instruc(?:oes|ao)|regras|anterior\w*)\b",
    r"\b(?:vergeet|negeer)\b[^.!?\n]{0,30}\b(?:instructies|opdrachten|regels|voorgaande|vorige)\b",
    r"\b(?:zignoruj|zapomnij|ignoruj|zaboravi\w*|ignorisi|zanemari)\b[^.!?\n]{0,30}\b(?:instruk\w+|polecen\w+|upute|"
    r"pravila|sve|wszystk\w+)\b",
    r"\b(?:unut|yok say|gormezden gel|onceki talimat\w+)\b[^.!?\n]{0,30}\b(?:talimat\w*|komut\w*|yok say|unut)\b",
    r"\b(?:игнорируи|забудь|игнорируите|забудьте)\b[^.!?\n]{0,30}\b(?:инструкци\w+|указани\w+|команд\w+|все)\b",
    # Joined letters have no blanks.
    r"(?:ignore|forget|disregard|vergiss|ignoriere)(?:all|alle)?(?:the|your|my|deine|die)?"
    r"(?:previous|prior|above|vorherigen|bisherigen)?(?:instructions|anweisungen|rules|regeln|prompt)",
)

ROLE_PLAY = join_patterns(
    r"\bi(?: want|'d like| would like| need|'ll need| order| command| ask) you to (?:act|be|become|pretend|play|behave|"
    r"write|speak|talk|(?:answer|respond|reply) (?:as|like|in|only)|imagine|simulate|impersonate)\b",
    r"\bich (?:mochte|will|wunsche|befehle dir),? dass (?:du|sie)\b[^.!?\n]{0,120}\b(?:fungier|agier|spiel"
    r"|verhalt|sprich|"
    r"sprech|schreib|antwort|bist|sind|handel|tust|tun|simulier)\w*",
    r"\b(?:your (?:task|job|role|mission) (?:is|will be) (?:now )?to|(?:ihre|deine) (?:neue )?aufgabe (?:ist"
    r"|besteht|wird))\b",
    r"\bmy first (?:command|request|sentence|suggestion|prompt|input)\b|\bmeine? erste[rn]? (?:befehl|bitte"
    r"|satz|eingabe)\b",
    r"\b(?:simulate|impersonate|emulate|simuliere|imitiere) (?:an?|the|ein\w*|den|die|das|my)\b",
    rf"(?:{ORDER}|\b(?:to|you) )act (?:as|like) (?:if|though|an?|the|my|\w+bot|chatgpt|dan)\b",
    r"\b(?:you are|you're|you will be|act as|be) (?:now |from now on |no longer )",
    r"\bfrom (?:now|here|this point) on,? you\b|\bab (?:jetzt|sofort|nun) (?:bist du|sind sie|heisst du|antwortest)",
    rf"{ORDER}you(?: a|')re (?:an? |the |one |two |three |four |in )(?!great|good|nice|star|legend|life)",
    rf"{ORDER}(?:be|become) (?:an?|my) \w+\.",
    r"\bpretend (?:that |to |you|as |i |we )|\brole-? ?play(?:ing)? as\b|\byou are role-? ?playing\b",
    r"\b(?:imagine|assume|suppose) (?:that )?you(?: are|'re| were) (?!eligible|admitted|enrolled|a (?:new )?student)",
    r"\b(?:play|take on|assume|adopt) the (?:role|persona|character) of\b|\bstay in (?:character|your role)\b",
    r"\b(?:answer|respond|reply|talk|speak|write)\b[^.!?\n]{0,30}\b(?:in the (?:style|voice|manner|tone) of|as if you|"
    r"like an? (?:pirate|nazi|racist|child|drunk))",
    r"\b(?:jailbreak|do anything now|developer mode|god mode|dan mode|unfiltered|uncensored|no longer bound)\b",
    r"\b(?:actors?|characters?|persons?)\b[^.!?\n]{0,40}\b(?:film|movie|play|novel)\b.{0,250}"
    r"\b(?:roles?|characters?|figure)\b",
    r"\b(?:schauspieler|personen|figuren)\b[^.!?\n]{0,60}\b(?:film|stuck|theaterstuck|roman)\b.{0,250}\brollen?\b",
    r"(?:^|[.!?:\n>] ?|\bund |\bjetzt |\bnun )(?:du bist|bist du) (?:jetzt |nun |ab jetzt |kein\w* |ein\w* |der |die |"
    r"das |mein\w* |[a-z]+ [a-z]+\.)(?!student)",
    r"\b(?:jetzt|nun) bist du\b|\bdu bist (?:jetzt|nun|ab jetzt|nicht mehr|keine?)\b",
    r"\b(?:als|wie) [^.!?\n]{2,80} (?:fungier\w+|agier\w+|auftr\w+)|\bfungier\w+ als\b",
    r"\b(?:spiel|ubernimm|schlupf\w*|spielen sie) (?:jetzt |bitte )?(?:in )?(?:die|eine|den) (?:rolle|figur|part)\b",
    r"\b(?:tu|tue|tun sie|verhalte? dich|verhalten sie sich) (?:so,? )?als\b",
    r"\bstell dir vor,? du (?:bist|warst|seist|wurdest)\b",
    r"\b(?:antworte|beantworte|sprich|rede|schreibe?)\b[^.!?\n]{0,40}\b(?:im stile?|als war\w+ du|in der rolle)\b",
    r"\b(?:so|auch so) reden\b|\bwie wurde\b[^.!?\n]{0,40}\bantworten\b",
)

REVEAL_PROMPT = join_patterns(
    r"\bhow (?:were|are|have) you (?:been )?(?:instructed|programmed|configured|prompted)\b",
    r"\b(?:what|which) (?:\w+ )?(?:instructions|rules|orders|prompts?) (?:were|have|did|do|are) you\b",
    r"\bwhat (?:were|have|are) you (?:been )?(?:told|instructed|asked|ordered) (?:to|not|before|by|at)\b",
    r"\b(?:welche|was fur) (?:\w+ )?(?:anweisungen|instruktionen|regeln|vorgaben|befehle) (?:hast du|wurden dir"
    r"|befolgst du)",
    r"\bwas wurde dir (?:gesagt|aufgetragen|befohlen|mitgeteilt)\b|\bwie wurdest du (?:instruiert|programmiert)",
    r"\b(?:show|reveal|print|repeat|display|output|tell|give|list|share|expose|leak|dump|paste|recite|reproduce|"
    rf"summari[sz]e|translate|write|say|return|copy|disclose|describe)\b{gap(5)}(?:your|system|initial|hidden|secret|"
    rf"original|internal|all|above|this)(?:{gap(2)}|[ ])(?:prompts?|instructions|system message|prompt ?texts?|"
    r"configuration)\b(?! (?:for|on|about|how|to (?:apply|enrol|register|submit)))",
    r"\b(?:what|which|tell me)\b[^.!?\n]{0,25}\byour (?:\w+ )?(?:prompts?|instructions|system message|rules|"
    r"guidelines|directives)\b",
    r"\b(?:system|prompt|initial|hidden|secret)[ _-]?(?:prompts?|texts?|instructions)\b(?<!prompt prompt)"
    r"(?=[^?\n]{0,60}(?:[.!]|$))(?<=s prompt_texts)",
    r"\b(?:system|initial|hidden|secret|meta)[ _-]prompts?\b|\bprompt[ -]texte?s?\b",
    r"\bwhat (?:is|was|were|has been|did|does)\b[^.!?\n]{0,30}\b(?:written|said|stands?|told|say) "
    r"(?:at the (?:beginning|start|top)|above|before|to you|you)",
    r"\b(?:repeat|print|output|copy|write|say|return) (?:me )?(?:back )?(?:everything|all|the (?:words|text|"
    r"sentences?|lines?|content|messages?)|exactly what(?: is)?)(?: \w+){0,2} (?:above|before|prior)\b",
    r"\binformation (?:in|from) (?:the|your) prompt\b|\b(?:show|output) (?:me )?the following texts\b",
    r"\b(?:zeig\w*|verrat\w*|nenn\w*|wiederhol\w*|gib|geben sie|druck\w*|schreib\w*|sag\w*|offenbar\w*|ubersetz\w*|"
    rf"list\w*)\b{gap(4)}(?:dein\w*|alle|ihre\w*|den|die|das|system\w*)(?:{gap(3)}|[ ])(?:\w*prompts?\b|"
    r"(?:system|prompt)\w*|systemanweisung\w*)",
    r"\b(?:was|wie|welche|nenne|zeige|verrate)\b[^.!?\n]{0,25}\bdeine (?:\w+ )?(?:anweisungen|instruktionen|regeln|"
    r"vorgaben|prompts?)\b",
    r"\bwas (?:steht|stand|wurde)\b[^.!?\n]{0,40}\b(?:oben|daruber|zu beginn|am anfang|ganz am)\b[^.!?\n]{0,30}"
    r"(?:prompt|geschrieben|text|\?|$)",
    r"\bzeige (?:mir )?(?:die|alle) (?:folgenden|obigen|vorherigen|deine) texte\b",
)

FORCED_OUTPUT = join_patterns(
    rf"{ORDER}(?:say|write|print|output|state|respond|reply|answer|type|echo)(?: with| that)?:? ?[\"'*]",
    r"\b(?:stop|halt|stopp)\b ?[-:,.!]{1,3} ?(?:write|say|print|output|now|i |ich|schreib|sag|stop|ignor)",
    r"(?:^|[.!] )attention ?[-!:]|\bachtung ?- ?stopp?\b",
    rf"{ORDER}(?:state|claim|write|admit) that (?:\w+ )?(?:i|you|we|he|they|the|all|is|are)\b",
    r"\b(?:say|tell (?:me|us|everyone|them)) that you (?:are|hate|love|do|have|like|want|will)\b",
    r"\b(?:and|just|only|simply|then|always|must|to|should) (?:just |only )?(?:say|reply|respond|output|answer with|"
    r"reply with|respond with)\b[:]? (?:[\"'*]|yes\b|no\b|hello\b|i (?:love|hate|am)|only\b|with\b)",
    r"[.!?] (?:say|answer|reply|respond)(?: with)? (?:yes|no|only)\b",
    r"\brepeat (?:after me|the (?:word|phrase|sentence)|this)\b|\bsprich mir nach\b|\bsag mir nach\b",
    r"\b(?:respond|reply|answer|output) (?:only|just|exactly|nothing but|solely|exclusively)\b",
    rf"\b(?:include|mention|add|insert|append)\b{gap(6)}(?:in|into|to|at the end of) your (?:answer|response|reply)",
    r"\b(?:every|each) time (?:you|i|a|someone|the user)\b[^.!?\n]{0,40}\b(?:answer|reply|respond|say|write)\b",
    r"\b(?:that|say|write|and)\b (?:that )?(?:you|i|\w+) (?:hate|hates|hasse|hasst) \w+",
    rf"{ORDER}(?:answer|reply to|respond to) (?:me )?(?:the |this |my )?following (?:question|request|prompt)",
    r"\b(?:beantworte|beantworten sie|antworte auf)(?: \w+){0,3} folgende[n]? (?:frage|anfrage)",
    r"\b(?:just|only|no matter what)\b[^.!?\n]{0,20}\boutput\b|\bi command you\b|\bich befehle dir\b",
    r"(?:^|[.!?:\n,] ?|\bund |\bund dann |\bbitte |\bnur )(?:sag|sage|antworte|schreib|schreibe|gib)(?: mir| nur|"
    r" ausschliesslich| genau| immer| jetzt| einfach| folgendes)*(?: aus)?(?: mit)? ?(?:[:\"'„*]|(?:ja|nein|dass|nur|"
    r"immer|tot|hallo)\b)",
    r"\b(?:antworte|antworten sie|schreibe?|sag)\b[^.!?\n]{0,20}\b(?:nur noch|ausschliesslich (?:mit|auf)|immer mit)\b",
    r"\b(?:berechne|berechnen sie|bitte berechnen) \d|\bdites ce qui suit\b|\bdi lo siguiente\b|\btienes que decir\b",
    r"\bexecute (?:the )?following (?:command|code|instruction)|\bfuhre (?:den )?folgenden? (?:befehl|code)\b",
)

OTHER_TASK = join_patterns(
    r"\b(?:input|eingabe) ?:.{1,120}\b(?:output|ausgabe) ?:",
    rf"{ORDER}(?:write|generate|compose|create|draft|formulate|print|make up|invent|produce)\b"
    rf"(?:{gap(5)}|[ ]){_WRITING}",
    rf"{ORDER}(?:generate|print|execute|run) (?:the )?(?:following )?(?:python|code|command|c\+\+|javascript"
    rf"|sql|bash)",
    r"\b(?:schreibe?|schreiben sie|generiere?n?(?: sie)?|verfasse|verfassen sie|formuliere|dichte|erfinde|erstelle|"
    rf"gib|erzahle?|programmiere)\b(?:{gap(5)}|[ ]){_TEXTE}",
    r"\b(?:help|hilf|helfen sie|hilfe)\b[^.!?\n]{0,30}\b(?:with the following|mit folgende[rmn]|bei folgende[rmn]|"
    r"bei (?:einer|der) weiteren|mit (?:einer|der) weiteren)\b[^.!?\n]{0,5}\b(?:question|task|frage|aufgabe)\b",
    r"\b(?:urgently|really) need (?:your help|you to)\b[^.!?\n]{0,30}(?:question|task|:)",
    rf"\b(?:well|great|good|excellent|congratulations|fantastic|perfect|okay|ok)\b[^?\n]{{0,60}}[.!,]{gap(2)}"
    r"(?:now|but now|there are) (?:write|we|comes?|there|a few|i|you|answer|a new|new)\b",
    r"\b(?:gut gemacht|sehr gut|grossartig|ausgezeichnet\w*|hervorragend|fantastisch|prima|super)\b[^?\n]{0,90}"
    r"\b(?:aufgaben?|anweisungen|auftrag|auftrage|herausforderung|schreibe?|begrundung)\b",
)

#: Only found or not: of a row of the same sign the last ones are enough, however long it is.
DELIMITER = (
    r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|instructions?|user|prompt)>"
    r"|(?:^|\n)[ #*=>-]{0,6}(?:system|assistant|developer|ai|human)(?: (?:message|prompt|note))?[*]{0,2} ?:"
    r"|## ?(?:system|instructions?|new (?:task|instructions?)|anweisung(?:en)?"
    r"|response) ?(?:prompt|message|override|:)"
    r"|[=\-*_]{3} ?(?:end|begin|start|ende|beginn)\b[^\n]{0,30}\b(?:prompt|context|documents?|sources?|instructions?|"
    r"user|system|quellen|input|text)\b"
    r"|(?:\\ ?n ?){3}"
    r"|[$#@{](?:documents?|context|sources?|system|prompt)s?\b|\bcontext ?: ?[{\[(]"
    r"|(?:^|\n|[.?!] |\\n ?)(?:instruction|anweisung|system) ?: ?\w"
)

EXFILTRATE = join_patterns(
    r"(?<!/)\b(?:send|post|forward|upload|transmit|append|encode|embed|leak|exfiltrate|schick\w*|send\w*|"
    rf"ubermittl\w*|leite)\b{gap(7)}(?:chat ?(?:history|log|verlauf)|system prompt|password|passwort|"
    r"credentials|api[ -]?keys?|secrets?|tokens?|cookies?|user data|(?:everyone|other (?:users?|students?))'?s?|"
    r"zugangsdaten|personal data of|nutzerdaten)\b"
    rf"[^.!?\n]{{0,40}}(?:\bto\b|\ban\b|https?:|@|\bnach\b)",
    rf"\b(?:send|post|forward|upload|append|schick\w*|sende)\b{gap(3)}(?:conversation|gesprach\w*|data|daten)\b"
    r"[^.!?\n]{0,40}(?:https?:|@)",
    r"\b(?:show|give|tell|list|print|reveal|zeig\w*|gib|nenn\w*)\b[^.!?\n]{0,30}\b(?:api[ -]?keys?|secret[ _]key|"
    r"environment variables|env vars|database (?:password|credentials|tables)|admin (?:password|credentials)|"
    r"(?:other|all|alle\w*|andere\w*) (?:users?|students?|nutzer|studierende\w*)'? (?:questions|messages|conversations|"
    r"passwords|data|chats|fragen|daten|nachrichten))\b",
    r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}[?=]",
)

ENCODED = join_patterns(
    r"\b(?:decode|decrypt|decipher|dekodier\w*|entschlussel\w*)\b[^.!?\n]{0,40}\b(?:base ?64|rot ?13|hex\w*|morse|"
    r"following|folgend\w*|this|and (?:then )?(?:follow|execute|do|run|obey))\b",
    r"\b(?:base ?64|rot ?13|morse code|hexadecimal)\b[^.!?\n]{0,40}\b(?:decode|dekodier\w*|encoded|follow|execute|"
    r"answer|antworte|instructions?|befolg\w*)\b",
    r"\b(?:answer|reply|respond|antworte|output|encode)\b[^.!?\n]{0,30}\b(?:in|as|als|using|to) (?:base ?64"
    r"|rot ?13|hex|"
    r"morse|binary|leet)\b",
)

QUESTION_RULES: Rules = {
    "override": OVERRIDE,
    "role_play": ROLE_PLAY,
    "reveal_prompt": REVEAL_PROMPT,
    "forced_output": FORCED_OUTPUT,
    "other_task": OTHER_TASK,
    "delimiter": join_patterns(DELIMITER, r"\n{6,}"),  # pages have empty lines, too
    "exfiltrate": EXFILTRATE,
    "encoded": ENCODED,
}
