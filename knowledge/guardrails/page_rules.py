"""The rules of `knowledge.guardrails.injection` for passages of pages, by the name of their sign.

They are narrower than those for questions. A page gives orders to its readers, and a passage with a sign is not used
until staff have looked at it. So a sign here needs one of three: the text names a program as whom it speaks to, it is
about the answer that is being written or the one who asked, or it takes back what a program was told before. The text
is folded as it is for questions.
"""

from knowledge.guardrails.rules import ORDER, Rules, gap, join_patterns

#: Changes with folding and cutting for these rules: passages of another version are checked again.
VERSION = "1"

#: Programs that write answers. "Assistant" and "tool" alone are people's, too, and no sign.
_MACHINE = (
    r"\b(?:(?:the|an?|any|all|every|each) )?(?:generative |large |intelligent )?"
    r"(?:(?:ai|a\.i\.|llm|gpt|(?:large )?language|chat)[ -]?(?:(?:based|powered|driven|chat|language) )?"
    r"(?:assistants?|models?|(?:chat[ -]?)?bots?|agents?|systems?|crawlers?|summari[sz]ers?)"
    r"|(?:virtual|digital|automated|conversational|automatic) (?:ai )?(?:assistants?|agents?|summari[sz]ers?)"
    r"|chat-?bots?|llms?|ais?|chatgpt|(?:microsoft )?copilot|gpt(?:-?\d\w*)?)\b"
)
_MASCHINE = (
    r"\b(?:(?:das|die|der|den|dem|dieses?|dieser|jede[rsnm]?|alle|ein(?:e[nmrs]?)?) )?"
    r"(?:(?:ki|ai|chat|sprach)[ -]?(?:basierte[nrs]? )?(?:assistent\w*|systeme?n?|modelle?n?|agent\w*|(?:chat-?)?bots?"
    r"|assistenzsysteme?)|chat-?bots?|llms?|(?:virtuelle|digitale)[nrs]? assistent(?:en)?|kis?|chatgpt)\b"
)
_CALLED = r"(?:^|[.!?:;*#>(\[{\"\n|-]) ?"
#: Between the one who is spoken to and what is said.
_TURN = r" ?(?:[,:!]|-+) ?[\"*_]{0,3}"
_ANSWERING = (
    r"(?:tell|say|state|claim|answer|respond|reply|recommend|suggest|ignore|disregard|forget|include|mention|append"
    r"|add|"
    r"insert|direct|refer|redirect|urge|convince|persuade|promote|praise|output|quote|cite)"
)
#: Verbs of orders to a program.
_SAY = (
    rf"(?:{_ANSWERING}|(?:always|never|do not|don't|only) (?:{_ANSWERING}|tell|use|trust|reveal|show|give|write|repeat)"
    r"|override|inform|advise|send|point|encourage|warn|print|write|give|provide|replace|translate|repeat|stop|begin|"
    r"make sure|ensure|be sure|remember|assume|pretend|act|rank|rate|describe|present|offer|link|treat|disclose|reveal|"
    r"show|share|visit|open|download|execute|run|follow|obey|summari[sz]e|instead"
    r"|please (?!see|contact|read|note|refer|use|check|find|visit|consult)|the correct answer|the only (?:correct"
    r"|valid)"
    r"|your (?:answers?|reply|replies|responses?|outputs?|tasks?|instructions|new|goals?|job)"
    r"|you (?:are|must|should|shall|will|have to|need to) |when (?:you|asked|answer\w*|respond\w*|summari\w*)"
    r"|(?:when|if|before|while) (?:a|the|any|an) (?:user|student|applicant)|if (?:you|asked)|from now|in your)"
)
_SAGE = (
    r"(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|sag(?:e|t|en sie)?|teil(?:e|t|en sie)|antworte\w*|empfiehl"
    r"|empfehlen sie|empfehlt|rate|raten sie|nenn(?:e|t|en sie)|erwahn(?:e|t|en sie)|fug(?:e|t|en sie)|schreib(?:e|t)?"
    r"|gib|gebt|verweis(?:e|t|en sie)|behaupte\w*|informier(?:e|t)|weise|weisen sie|bitte (?:ignorier|sag|empfiehl"
    r"|empfehl|antwort|nenn|erwahn|teil|weis|fug|gib|geben sie aus)\w*|antworte\w*|du (?:musst|sollst|bist|darfst"
    r"|wirst)"
    r"|(?:wenn|falls) (?:du|jemand|ein nutzer)|deine (?:antwort|aufgabe|anweisung)\w*|ab (?:jetzt|sofort)|beantworte\w*"
    r"|verrate\w*|sende|schick(?:e|t)?|wiederhol(?:e|t)|befolg(?:e|t|en sie)|bewerte|lobe|uberzeuge|beende|beginne"
    r"|diese (?:seite|quelle) ist)"
)
_WRITTEN = (
    r"(?:answer|repl(?:y|ies)|responses?|outputs?|summary)\b(?! to (?:our|us|my|the (?!user|question|student|reader)))"
)
_YOUR = r"your (?:(?:own|whole|entire|full|final|next|first|last|every|following|subsequent|generated|complete) )?"
_RESHAPE = (
    r"(?:modify|change|augment|enhance|adapt|alter|extend|end|begin|start|finish|encode|encrypt|format|write|translate|"
    r"conclude|provide|render|present|deliver|scramble|jumble|misspell|rearrange|anagram|reverse|convert|transform|"
    r"rewrite|obfuscate|shuffle|preface|prefix|precede|craft|generate|compose|produce|spell|tailor)"
)
_READERS = r"(?:(?:the|any|every|all|your|these|those) (?:users?|askers?|readers?|visitors?|customers?)|users)"
_NUTZER = r"(?:(?:dem|den|der|jedem|allen|die) )?(?:nutzer(?:inne)?n?|benutzer(?:inne)?n?|nutzenden|fragenden|lesern?)"
_LETTERS = r"(?:letters?|vowels?|consonants?|syllables?)\b"
_CREATIVE = (
    r"(?:poems?|poetry|short story|stor(?:y|ies) (?:about|based)|songs?|lyrics|haikus?|limericks?|sonnets?|raps?"
    r"|jokes?|"
    r"love letters?|letters? to|speech(?:es)?|manifest\w*|(?:introduction|conclusion|outline) (?:for|of|to) an? "
    r"(?:essay|article|speech|blog)|tweets?|blog ?posts?|dialogues? between)(?!\w)"
)
_DICHTUNG = (
    r"(?:gedicht\w*|kurzgeschichte\w*|liebesbrief\w*|loblied\w*|manifest\w*|limericks?|haikus?|witz\w*|liedtext\w*"
    r"|werbetext\w*)(?!\w)"
)
_LANGUAGES = (
    r"(?:english|german|french|spanish|italian|russian|chinese|japanese|latin|arabic|portuguese|dutch|polish|turkish|"
    r"klingon|korean|hindi)"
)
_NOT = r"(?<!not )(?<!never )(?<!n't )(?<!nicht )"
_IGNORE = (
    rf"{_NOT}\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?: about)?|overrule|override|bypass|neglect|unlearn|leave"
    rf" aside|"
    r"put aside|stop following|pay no attention to|(?:do not|don't|never) (?:follow|obey|adhere to|listen to)"
    r"|deviat\w+ from|"
    r"contrary to|regardless of|instead of following|rather than following)"
)
_TOLD = (
    r"(?:instructions?|directives?|prompts?|guidelines|programming|guardrails|safeguards|safety (?:rules|filters?"
    r"|measures)"
    r"|orders|commands|rules|constraints|restrictions|tasks?)\b"
)
_BEFORE = r"(?:previous|prior|above|preceding|earlier|initial|original|former|foregoing|existing)"
_VERGISS = (
    rf"{_NOT}\b(?:vergiss|vergesst|vergessen sie|vernachlassige|ignorier(?:e|t|en sie)|missachte|verwirf|verwerfen sie|"
    r"uberschreibe|umgehe|halte dich nicht an|befolge nicht|entgegen)\b"
)
_REGELN = (
    r"(?:anweisung|instruktion|befehl|auftrag|auftrage|aufgabe|regel|richtlinie|vorgabe|vorschrift|prompt)\w{0,2}\b"
)

OVERRIDE = join_patterns(
    rf"{_IGNORE}{gap(3)}(?:your|system){gap(2)}{_TOLD}",
    rf"{_IGNORE} (?:your|system) {_TOLD}",
    rf"{_NOT}\b(?:ignore|ignoring|disregard|disregarding|forget|overrule|bypass|unlearn|do not follow|don't follow"
    rf"|never follow|stop following)(?:{gap(2)}| ){_BEFORE}(?:{gap(2)}| ){_TOLD}",
    rf"{_NOT}\b(?:ignore|disregard|forget)(?: about)? (?:all|any|every)(?: of)?(?: the)? (?:instructions?|prompts?"
    rf"|directives?"
    r"|rules|guidelines)\b",
    r"\b(?:ignore|disregard|forget)(?: \w+){1,2} (?:instructions?|directives?|prompts?|rules)(?: that| which)?"
    r" (?:you (?:were|"
    r"have|got)|i gave|above|from above|before)\b",
    rf"{_NOT}\b(?:ignore|disregard|forget) (?:(?:all|any|the|of) )*{_BEFORE} (?:context|text|documents?|passages?"
    rf"|sources?|"
    r"conversation|information)\b",
    rf"{ORDER}(?:ignore|disregard|forget)(?: about)? everything\b",
    rf"{ORDER}(?:ignore|disregard) (?:all |any )?(?:the )?(?:other|remaining) (?:sources?|documents?|passages?"
    rf"|search results"
    r"|context)\b",
    rf"{_NOT}\b(?:ignore|disregard|forget) (?:everything|anything|all|what(?:ever)?)(?: that| which)? (?:(?:was|is"
    rf"|has been|i|"
    r"you|we) )?(?:before|above|prior|previous\w*|you know|(?:have )?(?:been )?(?:told|said|learn\w*|discussed)|written"
    r"|beforehand|i said|so far)\b",
    rf"{ORDER}(?:ignore|disregard) (?:the )?above\b",
    r"\b(?:change|replace|rewrite|overwrite) your (?:instructions?|prompt|guidelines|programming)\b",
    r"\b(?:new|real|actual|override|hidden|secret|system) instructions? ?(?:for you ?)?[:-]",
    r"\byour (?:new|real|actual|next) (?:task|goal|objective|mission|instruction)s? (?:is|are) (?:now )?to\b"
    r"|\bnow (?:the )?new (?:tasks?|instructions?)\b|\byour new (?:task|instruction)s?\b",
    r"\b(?:focus|concentrate) (?:only |now |instead )?on (?:your|my) (?:new|next)\b",
    r"\bthis (?:page|document|source|text|passage|message) (?:overrides|supersedes|takes precedence over)\b"
    r"[^.!?\n]{0,30}\b(?:other (?:sources?|passages?)|your|system|instructions?)\b",
    rf"{_VERGISS}(?:{gap(3)}| )(?:vorherig|vorig|bisherig|vorangegangen|obig|fruher|vorstehend|ursprunglich)\w*"
    rf"(?:{gap(2)}| )\w{{0,8}}{_REGELN}",
    rf"{_VERGISS}(?:{gap(2)}| )(?:dein\w*|system)[ -]?(?:{gap(2)}| )?{_REGELN}",
    rf"{_VERGISS} (?:alle|samtliche|jegliche) {_REGELN}",
    rf"{_VERGISS} (?:bitte )?(?:alles|alle[sn]? (?:davor|vorher\w*|zuvor\w*|gesagte|bisherige|obige))\b",
    r"\b(?:deine?[nr]?) neuen? (?:aufgabe|anweisung|instruktion)(?:en)?\b|\b(?:neue|geheime|versteckte) (?:anweisung|"
    r"instruktion)(?:en)? ?(?:fur dich ?)?[:-]",
    r"\boublie[zrs]?\b[^.!?\n]{0,30}\b(?:instructions?|consignes)\b|\bignore[zrs]?\b[^.!?\n]{0,20}\b(?:les|vos|tes) "
    r"(?:instructions|consignes)\b",
    r"\b(?:olvida|olvide|ignora|ignore|descarta)\b[^.!?\n]{0,30}\b(?:instrucciones|ordenes) (?:anteriores|previas)\b",
    r"\b(?:dimentica|ignora)\b[^.!?\n]{0,30}\bistruzioni\b[^.!?\n]{0,15}\bprecedenti\b",
    r"\b(?:игнорируи|забудь|игнорируите|забудьте)\b[^.!?\n]{0,30}\b(?:инструкци\w+|указани\w+|команд\w+)\b",
    r"(?:ignore|forget|disregard|vergiss|ignoriere)(?:all|alle)?(?:the|your|my|deine|die)?"
    r"(?:previous|prior|above|vorherigen|bisherigen)(?:instructions|anweisungen|rules|regeln|prompt)",
)

REVEAL_PROMPT = join_patterns(
    rf"\b(?:show|reveal|print|repeat|display|output|leak|dump|paste|recite|disclose|expose|tell|share|return){gap(5)}"
    r"(?:your|the system|the initial|system|hidden|secret|internal) (?:\w+ ){0,2}(?:prompts?|instructions|system"
    r" message|"
    r"prompt ?texts?)\b(?! (?:for|on|about|how|to ))",
    r"\b(?:reveal|leak|disclose|recite|print|output) (?:your|the) (?:system |initial |hidden )?(?:prompt"
    r"|instructions)\b"
    r"(?! (?:for|on|about|how|to |at|of))",
    r"\b(?:repeat|print|output|recite) (?:me )?(?:back )?(?:everything|all|the (?:words|text|sentences?|content"
    r"|messages?)|"
    r"exactly what(?: is)?)(?: \w+){0,2} (?:above|before|prior)\b",
    rf"\b(?:zeig\w*|verrat\w*|wiederhol\w*|gib|geben sie|offenbar\w*){gap(4)}(?:dein\w*|ihr\w*|den|die"
    rf"|das)(?:{gap(2)}| )"
    r"(?:system-?\w*|prompt\w*|systemanweisung\w*|geheime\w* anweisung\w*)\b",
    r"\b(?:show|output) (?:me )?all (?:of )?your\b[^.!?\n]{0,20}\b(?:prompts?|texts?)\b",
)

DELIMITER = join_patterns(
    r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|instructions?|prompt)>",
    r"(?:^|\n)[ #*=>-]{0,6}(?:system|assistant|developer) (?:message|prompt|note|override)[*]{0,2} ?:",
    rf"(?:^|[\n.!?] ?)[ #*=>-]{{0,6}}(?:system|assistant|developer|instruction|anweisung)[*]{{0,2}} ?: ?(?:{_SAY}"
    rf"|{_SAGE}"
    r"|the (?:assistant|model|ai|user)|sure\b|be )",
    r"(?<!#)#{2,} ?(?:system|new (?:task|instructions?)|response) ?(?:prompt|message|override|:)",
    r"(?<![=\-*_])[=\-*_]{3,} ?(?:end|begin|start|ende|beginn) (?:of |der |des )?(?:the )?(?:prompt|context|sources?"
    r"|instructions?|user "
    r"(?:input|message)|system|quellen|user)\b",
    r"\[system\]|\{\{ ?(?:system|prompt|context) ?\}\}",
)

EXFILTRATE = join_patterns(
    rf"(?<!/)\b(?:send|post|forward|upload|transmit|append|encode|embed|leak|exfiltrate){gap(7)}(?:chat ?(?:history"
    rf"|log)|"
    r"conversations?|system prompt|user(?:'s)? data|(?:the )?user's \w+)\b[^.!?\n]{0,40}(?:\bto\b|https?:|@)",
    rf"(?<!/)\b(?:schick\w*|send\w*|ubermittl\w*|leite){gap(7)}(?:chat-?verlauf|gesprach\w*|systemprompt|nutzerdaten)\b"
    r"[^.!?\n]{0,40}(?:\ban\b|https?:|@|\bnach\b)",
    rf"{_NOT}(?<!/)\b(?:send|post|upload|leak|exfiltrate|schick\w*|sende){gap(7)}(?:passwords?|passwort|credentials"
    rf"|api[ -]?keys?"
    r"|cookies?|zugangsdaten)\b[^.!?\n]{0,30}(?:https?:|hxxp|www\.)",
    r"\b(?:show|give|tell|reveal)\b[^.!?\n]{0,20}\b(?:database (?:password|credentials)|admin (?:password|credentials)|"
    r"(?:other|all) (?:users?|students?)' (?:questions|messages|conversations|passwords|chats))\b",
    # An image whose address takes something along that is to be filled in.
    r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}[?&][^)\n]{0,80}=[^)\n]{0,40}(?:[{<\[]|conversation|history|question|answer"
    r"|data\b)",
)

#: It names the program that it speaks to.
ADDRESSES_MODEL = join_patterns(
    rf"(?:{_CALLED}|\b(?:dear|hey|hello|hi|attention|ok|to) ){_MACHINE}{_TURN}{_SAY}\b",
    r"\b(?:dear|attention,?|hey|hello|hi|note (?:to|for)|notice (?:to|for)|message (?:to|for)|memo (?:to|for)|reminder "
    r"(?:to|for)|instructions? (?:to|for)|directives? (?:to|for)|important (?:to|for)|orders? for|commands? (?:to|for)|"
    rf"prompt for) (?:(?:any|all|the|every|our|your|other) )?{_MACHINE}"
    r"(?: ?(?:[,:!.\n]|-+ )| (?:that|who|which|reading|processing|parsing|answering|summari|please|only)\b|$)",
    rf"{_MACHINE} (?:(?:that|which|who)(?: is| are)? )?(?:reading|reads?|processing|parsing|summari[sz]ing|ingesting|"
    r"answering from|quoting|accessing|retriev\w+) (?:this|these)\b",
    rf"\b(?:if|since|because|as|when|in case) you(?: are|'re) (?:(?:some|the) )?{_MACHINE}"
    r"(?=[,.:;!)\n]| (?:reading|processing|summari\w+|answering|that|which|who|and|or|then|you|please)\b|$)",
    rf"\bas {_MACHINE},? (?:you (?:must|should|are|will|have)|please|ignore|always|never|do not)\b",
    rf"{_MACHINE} (?:must|should|shall|have to|need to|are to|is to|has to|are (?:required|instructed|ordered|told"
    rf"|asked|requested) to) (?:always |now |only |never |not |also |instead |immediately )?{_ANSWERING}\b(?!"
    rf" (?:you|in)\b)",
    rf"(?:{_CALLED}|\b(?:liebe[rs]?|hallo|achtung|hey|an) ){_MASCHINE}{_TURN}{_SAGE}\b",
    r"\b(?:hinweise?|anweisung(?:en)?|nachricht|mitteilung|achtung|notiz|anmerkung|aufforderung|instruktion(?:en)?"
    r"|befehl"
    rf"|info|wichtig|liebe[rs]?),? (?:an |fur ){_MASCHINE}(?: ?(?:[,:!.\n]|-+ )| (?:die|das|bitte|welche)\b|$)",
    rf"\b(?:liebe[rs]?|achtung),? {_MASCHINE} ?[,:!]",
    rf"\b(?:wenn|falls|da|sofern) (?:du|sie|ihr) (?:als )?{_MASCHINE} (?:bist|sind|seid)\b",
    rf"\bals {_MASCHINE},? (?:sollst|musst|darfst|wirst|antworte|sage|ignoriere|hast)\b",
    rf"{_MASCHINE},? (?:die|das|der) (?:diese[ns]?|das|den) (?:text|seite|dokument|inhalt)\w* (?:les|verarbeit"
    rf"|zusammenfass)\w+",
    rf"{_MASCHINE} (?:muss|mussen|soll|sollen|sollte|sollten|haben)\b[^.!?\n]{{1,100}}\b(?:sagen|antworten"
    rf"|empfehlen|raten"
    r"|nennen|behaupten|ignorieren|erwahnen|verweisen)\b",
    # Another role, and signs of it.
    r"\bi (?:want|need|command|order) you to (?:act|pretend|play|behave|impersonate|simulate|ignore|forget|respond"
    r"|reply)\b",
    r"\b(?:from now on|from here on|starting now|effective immediately),? (?:you (?:are (?:an? |my |no longer |now"
    r" )|(?:will|must|"
    r"shall|should) (?:only |always |now )?(?:act|respond|answer|reply|say|speak|pretend|ignore))|you (?:act"
    r"|respond|answer|only)"
    r"|respond|answer|act as|reply|only (?:answer|respond|reply))\b",
    r"\byou are (?:now |no longer )(?:an? |in )?(?:\w+ )?(?:ai|assistant|bot|chatbot|model|dan|jailbroken|unrestricted|"
    r"unfiltered|developer mode|persona)\b",
    rf"{ORDER}pretend (?:that )?(?:you(?: are|'re)|to be)\b|\bstay in character\b|\bdo anything now\b",
    r"\bab (?:jetzt|sofort|nun) (?:bist du|antwortest du|sagst du|sollst du)\b|\bich (?:mochte|will),? dass (?:du|sie) "
    r"(?:als|wie|so tust|so tun)\b",
    r"\brepeat after me\b|\bsprich mir nach\b",
)

#: It is about the answer that is being written, or about who will read it.
FORCED_OUTPUT = join_patterns(
    r"\b(?:when|if|before|while|whenever) (?:you )?(?:answer\w*|summari[sz]\w+|respond\w*|reply\w*) (?:to )?"
    r"(?:(?:this|the|a|any) (?:user|query|page|document)|this (?:question|text)|(?:any|an?) (?:question|student))\b",
    r"\b(?:when|if|whenever) (?:you are |you're )?(?:ever )?(?:asked|answering|(?:users?|someone|anyone|a student|a"
    r" user|the user"
    r"|people) asks?(?: you)?)\b[^.!?\n]{0,100}?,? (?:you (?:must|should|will|are to) |please |always |only |simply"
    r" |just "
    r"|then )*(?:say|answer|reply|respond|tell|claim|recommend|output) (?:that|with|them|the user|only|you|\"|there"
    r"|no\b|yes\b)",
    r"\bwenn (?:jemand|ein nutzer|nutzer|studierende|du) (?:nach |zu )?[^.!?\n]{0,60}(?:fragt|fragen|gefragt wirst),? "
    r"(?:dann )?(?:sag|antworte|nenne|empfiehl|behaupte|erwahne)",
    rf"\b(?:in|to|into|within|throughout|inside|letters? (?:in|of)|words? (?:in|of)|spaces? (?:in|from)|"
    rf"(?:end|beginning|start|top|bottom) of) {_YOUR}{_WRITTEN}",
    r"\b(?:letters?|words?|vowels?|sentences?) (?:(?:in|of) (?:the )?)?(?:words? )?(?:in|of) your message\b",
    r"\b(?:render|encode|scramble|reverse|misspell|jumble|encrypt) your (?:message|words|text|sentences)\b",
    rf"\b{_RESHAPE} {_YOUR}{_WRITTEN}",
    rf"\bwith(?:in)? {_YOUR}(?:answer|reply|response|output)\b",
    r"\b(?:in|an|zu|mit|ans ende|andere|beende|beginne|erganze|formuliere|schreibe|verschlussele) (?:deiner?|deine|all "
    r"deinen|deinen) (?:nachsten? |ganzen? |gesamten? )?(?:antwort|ausgabe|zusammenfassung)(?:en)?\b",
    r"\b(?:fuge|erganze|schreibe|hange) (?:an |zu )?(?:deiner|deine) (?:\w+ )?(?:antwort|ausgabe|zusammenfassung)\b",
    r"\b(?:fugen|erwahnen|beenden|beginnen) sie\b[^.!?\n]{0,60}\bihre[rn]? (?:antwort|ausgabe"
    r"|zusammenfassung)(?:en)?\b",
    r"\b(?:tell|inform|instruct|convince|direct|urge|ask|persuade|remind|advise|warn) the (?:user|asker|reader)"
    r" (?:to|that)\b",
    rf"{ORDER}(?:always |instead |also |only )?(?:tell|instruct|convince|direct|urge|persuade|redirect|ask|encourage|"
    rf"remind|advise) (?:{_READERS}|(?:the |all |any )(?:students?|applicants?)) (?:to|that|they|their|about)\b",
    rf"{ORDER}(?:tell|instruct|convince|urge|persuade) (?:students|applicants) (?:to|that)\b",
    r"\b(?:sag|sage|sagen sie|teile|teilen sie|rate|empfiehl|empfehlen sie|weise|weisen sie|bitte|fordere|uberzeuge)"
    rf" {_NUTZER},? (?:mit|dass|zu|auf|sie|er|an)\b",
    r"\b(?:sage|teile|rate|empfiehl) (?:dem|den) (?:nutzer|benutzer|studierenden|studenten)\b",
    r"\b(?:do not|don't|never) (?:mention|reveal|disclose|tell|show|repeat|refer to)\b[^.!?\n]{0,40}\b(?:this|these"
    r"|the)"
    r" (?:hidden |secret )?(?:instructions?|prompt|directives?|hidden text)\b",
    rf"{ORDER}(?:answer|respond|reply) (?:only|just|solely|exclusively|always|to (?:all|every|any) \w+) (?:with|in"
    rf"|by|that)\b",
    rf"{ORDER}(?:answer|respond|reply)(?: with)? (?:only )?(?:the (?:word|phrase|sentence) )[\"'“*]?\w",
    r"\b(?:antworte|antworten sie) (?:nur noch|nur mit|immer mit|ausschliesslich|auf alle fragen|auf jede frage)\b",
    rf"{ORDER}(?:replace|swap|substitute|convert|change|reverse|scramble|jumble|rearrange|shuffle|exchange|drop"
    rf"|omit|use "
    rf"\w+ for|misspell|anagram|group|transpose) (?:up )?(?:all |every |each |the |some )*(?:\w+ )?(?:{_LETTERS}"
    rf"|\w+ word with)",
)

#: A task of its own, which no page has for its readers.
OTHER_TASK = join_patterns(
    rf"{ORDER}(?:write|compose|draft|create|develop|generate|provide|recite|sing|tell)(?: me| us)? (?:an? |the |some )"
    rf"(?:\w+ ){{0,2}}{_CREATIVE}",
    rf"{ORDER}(?:schreibe?|verfasse|dichte|erzahle?|generiere|erfinde)(?: mir| uns)? (?:ein\w* )(?:\w+ )?{_DICHTUNG}",
    rf"{ORDER}(?:translate|provide) (?:the |this |these |following ){{1,2}}(?:\w+ ){{0,3}}(?:in)?to {_LANGUAGES}\b",
)

DOCUMENT_RULES: Rules = {
    "override": OVERRIDE,
    "reveal_prompt": REVEAL_PROMPT,
    "forced_output": FORCED_OUTPUT,
    "other_task": OTHER_TASK,
    "delimiter": DELIMITER,
    "exfiltrate": EXFILTRATE,
    "addresses_model": ADDRESSES_MODEL,
}
#: Signs that random text, read backwards or turned, matches less often than the others.
CERTAIN: Rules = {"override": OVERRIDE, "reveal_prompt": REVEAL_PROMPT}
