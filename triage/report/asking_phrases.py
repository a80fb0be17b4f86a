"""The phrases by which people and agents ask, in five languages: English, Portuguese, Spanish, German, French.

Tables only; `triage.report.asking` says how they are used. Every entry is a regular expression over lower-case text
with straight apostrophes; the tests hold an example for each group.
"""

from typing import Final

ASK_FIRST: Final = (
    # "Shall I …": asks for leave where it opens a sentence or the sentence is a question
    r"(?:shall|should|may|can|could) i\b|(?:shall|should|may) we\b",
    r"(?:(?:do|would|did) you )?(?:want|like|prefer|need) (?:me|us) to\b",
    r"(?:are|is) (?:you|it|this|that) (?:ok|okay|fine|all right|alright)\b",
    r"(?:ok|okay|good|safe|ready|fine) to (?:go|proceed|continue|merge|deploy|push|delete|run|start|apply|ship)\b",
    r"(?:go ahead|proceed|continue|approve|confirm|approved|confirmed) ?\?",
    r"do you (?:approve|confirm|agree|accept|consent)\b",
    r"(?:can|could|will|would) you (?:please )?(?:approve|confirm|authori[sz]e|sign off)\b",
    # Portuguese
    r"(?:devo|devemos|posso|podemos) (?!\w+ ver\b)\w",
    r"(?:quer|queres|deseja|desejas|gostaria|preferes?) (?:de )?que (?:eu|nós)\b",
    r"(?:você |vocês |o senhor |a senhora )?(?:aprovas?|confirmas?|autorizas?|concordas?)\b",
    r"(?:pode|podes|poderia) (?:por favor )?(?:aprovar|confirmar|autorizar)\b",
    # Spanish
    r"¿? ?(?:debo|debemos|puedo|podemos) \w",
    r"¿? ?(?:quieres?|desea|deseas|prefieres?|te gustaría|le gustaría) que\b",
    r"¿? ?(?:apruebas?|confirmas?|autorizas?|est[aá]s? de acuerdo)\b",
    r"¿? ?(?:puedes?|podrías?) (?:por favor )?(?:aprobar|confirmar|autorizar)\b",
    # German
    r"(?:soll|sollen|darf|dürfen|kann) (?:ich|wir)\b",
    r"(?:möchtest du|möchten sie|willst du|wollen sie|wünschen sie)(?: gern)?,? (?:dass|ob)\b",
    r"(?:bist du|sind sie) (?:damit )?einverstanden\b",
    r"(?:kannst du|können sie|könnten sie|könntest du) (?:bitte )?(?:das )?(?:freigeben|bestätigen|genehmigen)\b",
    # French
    r"(?:dois|puis|peux)-je\b",
    r"(?:devons|pouvons)-nous\b",
    r"(?:voulez-vous|veux-tu|souhaitez-vous|souhaites-tu|préférez-vous|préfères-tu) que\b",
    r"(?:est-ce que )?(?:je peux|je dois|tu veux que|vous voulez que)\b",
    r"(?:confirmez-vous|confirmes-tu|approuvez-vous|approuves-tu|êtes-vous d'accord|es-tu d'accord)\b",
)

WAITING: Final = (
    # says that it waits, or demands an answer: counts with or without a question mark
    r"(?:please|kindly|pls) (?:\w+ ){0,2}(?:confirm|approve|authori[sz]e|sign off|decide|choose|pick|advise)\b",
    r"(?:waits?|waiting|pending|blocked|holding)(?: here)? (?:for|on|until) (?:you|your|the operator's|operator)\b",
    r"(?:await|awaits|awaiting) (?:you|your|the operator's|operator)\b",
    (
        r"(?:need|needs|require|requires) (?:your|the operator's|operator) (?:\w+ )?"
        r"(?:approval|confirmation|decision|input|permission|sign-off|go-ahead|answer|ok|okay|consent|review)\b"
    ),
    r"(?:approval|confirmation|sign-off|permission|operator review) (?:is )?(?:required|needed|pending)\b",
    r"(?:let me know|tell me) (?:which|whether|how (?:you'd|you would) (?:like|want)|if (?:i|we) (?:should|can|may)\b)",
    r"(?:let me know|tell me) what you(?:'d| would)? (?:prefer|choose|decide)",
    r"(?:reply|respond|answer|type|say) (?:with )?[\"'`“]?(?:yes|no|y/n|approve|ok|go|confirm)\b",
    r"[\[(] ?y(?:es)? ?/ ?n(?:o)? ?[\])]",
    r"\b(?:approve|accept) (?:or|/) (?:reject|deny|decline)\b",
    # Portuguese
    r"(?:por favor,? |favor )(?:confirme|confirma|confirmar|aprove|aprova|aprovar|decida|decide|autorize|escolha)\b",
    r"(?:aguardo|aguardando|à espera d[ae]|esperando|fico à espera d[ae]) (?:a |o )?(?:sua|seu|tua|teu|vossa|vosso) ",
    r"(?:preciso|precisamos) d[aeo] (?:sua|seu|tua|teu) (?:aprovação|confirmação|decisão|autorização|resposta)\b",
    # Spanish
    r"por favor,? (?:confirma|confirme|confírmame|aprueba|apruebe|decide|decida|autoriza|autorice|elige|elija)\b",
    r"(?:espero|esperando|a la espera de|quedo a la espera de|pendiente de|aguardo) (?:tu|su|vuestra|vuestro) ",
    r"(?:necesito|necesitamos) (?:tu|su) (?:aprobación|confirmación|decisión|autorización|respuesta|permiso)\b",
    # German
    r"bitte (?:\w+ ){0,3}(?:bestätige[nt]?|bestätigt|freigeben|gib|geben sie|genehmigen?|entscheiden?)\b",
    r"(?:ich |wir )?(?:warte|warten) (?:noch )?auf (?:deine|ihre|eure|dein|ihr)\b",
    (
        r"(?:brauchen?|benötigen?) (?:noch )?(?:deine|ihre|eure|dein|ihr) "
        r"(?:freigabe|bestätigung|zustimmung|entscheidung|antwort|erlaubnis|ok)\b"
    ),
    # French
    r"(?:veuillez|merci de|prière de) (?:\w+ ){0,3}(?:confirmer|approuver|valider|décider|choisir|autoriser)\b",
    r"(?:s'il (?:te|vous) pla[iî]t,? (?:confirme|confirmez|approuve|approuvez|valide|validez))",
    r"(?:j'attends|nous attendons|en attente de|dans l'attente de) (?:ta|ton|votre|vos|tes)\b",
    r"(?:j'ai|nous avons) besoin de (?:ta|ton|votre) (?:approbation|confirmation|validation|décision|accord|réponse)\b",
)

COURTESIES: Final = (
    # closers that need no answer; they are ruled out before anything else is looked for
    r"\banything else\b",
    r"\bany (?:other )?(?:questions|further questions|thoughts)\b",
    r"\blet me know if (?:you|there|anything|that|this|it)\b",
    r"\b(?:feel free|don't hesitate|do not hesitate)\b",
    r"\b(?:can|may|could|shall) i (?:be of )?(?:help|assist)",
    (
        r"\bwhat (?:can|could|should|shall|would) (?:i|we|you like(?: me)? to) (?:help|assist|do|work on|tackle)"
        r"(?: you)?(?: with)?(?: for you)?(?: next| today| now)?\W*$"
    ),
    r"\b(?:what's|what is|what) next\b",
    r"\b(?:does|did) (?:that|this|it) (?:help|make sense|answer)\b",
    r"\b(?:is|was) (?:that|this) (?:helpful|clear|what you)\b",
    r"\bhow (?:are|is) (?:you|it going|everything)\b",
    r"\b(?:makes|make) sense\?",
    r"\b(?:right|ok|okay|huh|eh|yes|no|really)\?$",
    r"\b(?:would|do) you like (?:to know|to learn|more details|more information|me to explain)\b",
    # Portuguese
    r"\b(?:mais alguma coisa|algo mais|mais algum detalhe)\b",
    r"\b(?:posso|em que posso|como posso) (?:te |lhe |o |a )?ajudar\b",
    r"\bposso ajud[aá]\b",
    r"\b(?:qualquer dúvida|se precisar|se precisares|fico à disposição|estou à disposição)\b",
    r"\b(?:tudo bem|certo|não é|né)\?$",
    # Spanish
    r"\b(?:algo más|alguna otra cosa)\b",
    r"\b(?:puedo|en qué puedo|cómo puedo) (?:\w+ )?ayudar",
    r"\b(?:si necesitas|si necesita|cualquier duda|quedo a tu disposición|quedo a su disposición)\b",
    r"\b(?:verdad|no|vale)\?$",
    # German
    r"\b(?:sonst noch (?:etwas|was)|noch etwas|noch was)\b",
    r"\b(?:wie|womit) kann ich (?:\w+ )?(?:weiter)?helfen\b",
    r"\bkann ich (?:\w+ ){0,3}(?:weiter)?helfen\b",
    r"\b(?:bei fragen|falls du|falls sie|melde dich|melden sie sich|sag bescheid, wenn)\b",
    r"\b(?:oder|nicht wahr|gell|okay)\?$",
    # French
    r"\b(?:autre chose|d'autres questions)\b",
    r"\b(?:puis-je|comment puis-je|en quoi puis-je) (?:vous |t')?aider\b",
    r"\b(?:n'hésitez pas|n'hésite pas|si besoin|si vous avez besoin|si tu as besoin)\b",
    r"\b(?:n'est-ce pas|d'accord|non)\?$",
)

SIGN_OFFS: Final = (
    r"(?:many |so much )?(?:thanks|thank you|thx|cheers|regards|best|kind regards|best regards|sincerely)",
    r"(?:muito |muita )?(?:obrigad[oa]|abraços?|cumprimentos|atenciosamente)",
    r"(?:muchas )?gracias|saludos|un saludo",
    r"(?:vielen )?dank|danke|(?:viele|liebe|beste|herzliche|mit freundlichen) grü(?:ß|ss)en?|gru(?:ß|ss)|vg|lg",
    r"merci|cordialement|bien à (?:vous|toi)|bonne journée",
)
"""What may stand alone in a last paragraph after the question: it is passed over."""

OWN_ANSWERS: Final = (
    r"because\b|since\b|simpl[ey]\b|(?:it )?turns out\b|the (?:answer|reason|culprit|cause|fix)\b|well,",
    r"yes[,.!]|no[,.!]|not (?:really|quite|at all)\b|probably\b|that's (?:because|why)\b|here's (?:why|how)\b",
    r"porque\b|pois\b|a (?:resposta|causa|razão)\b|sim[,.!]|não[,.!]",
    r"la (?:respuesta|causa|razón)\b|sí[,.!]|resulta que\b",
    r"weil\b|denn\b|die (?:antwort|ursache)\b|ja[,.!]|nein[,.!]|der grund\b",
    r"parce que\b|car\b|la (?:réponse|cause|raison)\b|oui[,.!]|non[,.!]",
)
"""How a sentence begins that answers the question before it: that question was rhetorical."""

REFUSALS: Final = (
    r"\b(?:no|not|don't|doesn't|didn't|without|never|nor|longer) (?:\w+ ){0,3}$",
    r"\b(?:sem|não|nao|nunca|sin|nunca|ohne|nicht|kein|keine|keinen|pas|sans|plus besoin de) (?:\w+ ){0,3}$",
)
"""What before a phrase turns it around: "no need to wait for your approval"."""

ASK_TOOLS: Final = frozenset(
    {
        "ask",
        "askfollowupquestion",
        "askhuman",
        "askoperator",
        "askquestion",
        "askquestions",
        "askuser",
        "askuserquestion",
        "askuserquestions",
        "clarify",
        "elicit",
        "elicitation",
        "getuserinput",
        "humaninput",
        "promptuser",
        "question",
        "questionnaire",
        "requestinput",
        "requestuserinput",
        "userinput",
    }
)
"""Tools by which an agent asks its operator, without case and punctuation."""

APPROVAL_TOOLS: Final = frozenset(
    {
        "askapproval",
        "askpermission",
        "confirm",
        "confirmaction",
        "exitplanmode",
        "getapproval",
        "requestapproval",
        "requestconfirmation",
        "requestpermission",
    }
)
"""Tools by which an agent asks for leave."""
