"""What may follow a verdict: marks, a closing, or a reason. Anything else may take it back.

What takes a verdict back cannot be listed: there are too many ways and languages. So the rule is
the other way round, and words are known by what they are. They are read sentence by sentence, each
must begin as a closing or a reason does, and none may speak of the verdict itself. A sentence in
another language, an instruction, a joke or a turn that nobody thought of begins like neither, and
the reply is unreadable: lost replies are counted and imputed, misread ones are not.
"""

import re
from collections.abc import Iterator

LONGEST = 4_000
"""Characters of afterwords; a judge that goes on for longer does something else."""

# -- how a reason begins, in English ---------------------------------------------------------------

_LABEL = r"""(?:(?:brief|short|key|my|the)\ )?(?:reasons?|reasoning|rationale|explanations?|why
    |justification|feedback|comments?|analysis|assessment|evaluation|summary|details?|strengths?
    |weakness(?:es)?|note|criterion|evidence|differences?)\b"""
_LINK = r"""(?:however|also|additionally|further(?:more)?|moreover|overall|in\ (?:addition|short
    |summary|contrast|conclusion)|summing\ up|to\ sum\ up|besides|still|but|and|though|although|while|whereas|yet
    |so|thus|therefore|hence|for\ (?:example|instance)|specifically|in\ particular|finally|lastly
    |firstly|meanwhile|otherwise|at\ the\ same\ time|as\ a\ result|that\ is\ because|this\ is\ because)\b"""
_BECAUSE = r"""(?:because|since|as|due\ to|given|owing\ to|in\ view\ of|based\ on|for|with|without
    |despite|compared\ (?:to|with)|according\ to|graded|judged|rated|scored\ on)\b"""
_JUDGED = r"""(?:responses?|answers?|candidates?|texts?|author|writer|model|assistant|explanations?
    |solutions?|advice|repl(?:y|ies)|summar(?:y|ies)|stor(?:y|ies)|essay|tone|style|language
    |structure|organi[sz]ation|steps?|causes?|facts?|details?|content|points?|parts?|main|central
    |key|core|year|units?|dosages?|sources?|request|question|user|descriptions?|criteri(?:on|a)
    |remed(?:y|ies)|fix(?:es)?|rest|information|argument|examples?|lists?|statements?|claims?|dates?
    |figures?|names?|warnings?|instructions?|reasoning|conclusion|calculation|code|function|method
    |approach|idea|issue|problem|error|gap|flow|coverage|accuracy|clarity|depth|length|wording
    |grammar|spelling|formatting|limits?|values?|temperatures?|amounts?|proof|derivation|recipe
    |diagnosis|treatment|risks?|plan|references?|quot(?:es?|ation)|winner)"""
_VERB = r"""(?:gives?|names?|covers?|identif(?:y|ies)|explains?|mentions?|lists?|provides?|offers?
    |describes?|states?|answers?|address(?:es)?|includes?|contains?|omits?|miss(?:es)?|lacks?|leaves?
    |fails?|ignores|overlooks?|confuses?|mixes|gets?|makes?|uses?|shows?|demonstrates?|presents?
    |meets?|fits?|matches?|follows?|satisf(?:y|ies)|fulfil?ls?|handles?|keeps?|stays?|reads?
    |captures?|recogni[sz]es?|acknowledges?|suggests?|recommends?|warns?|focus(?:es)?|relies|repeats?
    |contradicts?|invents?|adds?|goes|falls?|does|do|has|have|needs?|requires?|touches|combines?
    |delivers?|conveys?|communicates?|reflects?|remains?|seems?|appears?|works?|solves?|points?
    |notes?|tells?|says?|supplies|agrees?|says|states?|sets?|picks?|urges?|computes?|finds?|backs?
    |blames?|links?|reject?s|builds?|restates?|discuss(?:es)?|compares?|hints?|claims?|derives?
    |confirms?|differs?|begins?|starts?|ends?|stops?|treats?|cites?|quotes?|assumes?|skips?|drops?
    |neglects?|outlines?|illustrates?|clarif(?:y|ies)|stands?|wins?|outlines?|summari[sz]es|lays
    |walks|runs|helps?|advises?|tackles?|speaks?|responds?|corresponds?|aligns?|deals?|talks?)"""
_MODIFIER = r"""(?:very|quite|mostly|largely|fully|entirely|nearly|almost|fairly|rather|somewhat
    |partly|partially|generally|reasonably|highly|really|only|just|also|not|n['’]t|both|all|more|less
    |slightly|well|factually|clearly|completely|otherwise|a|an|the|equally|pretty|so)"""
_QUALITY = r"""(?:good|great|excellent|outstanding|perfect|strong|solid|weak|poor|fair|decent|fine
    |adequate|acceptable|satisfactory|average|mediocre|middling|complete|incomplete|partial|full
    |thorough|detailed|comprehensive|clear|unclear|vague|correct|incorrect|accurate|inaccurate
    |relevant|irrelevant|concise|brief|short|long|verbose|thin|shallow|deep|rich|helpful|unhelpful
    |useful|useless|practical|safe|unsafe|harmless|harmful|polite|warm|cold|friendly|formal|natural
    |fluent|readable|coherent|incoherent|logical|organi[sz]ed|structured|consistent|inconsistent
    |specific|generic|general|right|sound|sober|honest|cautious|careful|reliable|unreliable
    |plausible|convincing|persuasive|compelling|creative|dull|engaging|balanced|biased|neutral
    |informative|insightful|superficial|minimal|missing|absent|present|lacking|wrong|false|true
    |misleading|confusing|confused|off-topic|on-topic|simple|basic|superb|exemplary|sufficient
    |insufficient|limited|extensive|usable|flawed|flawless|near|above\ average|below\ average
    |well[-\ ]\w+|better|worse|best|worst|highest|lowest|top|medium|high|low|minor|major|small|slight
    |serious|one|two|three|some|most|many|much|few|several|half|about|around|at\ least|barely|hardly
    |nothing|none|neither|never|either|each|every|everything|anything|another|all|only|both|more|less
    |on\ (?:topic|point)|spot[-\ ]on|see\ above|by|of|to\ the\ point|in\ line
    |no\ (?!(?:that|this|it|wait|way|i|longer|more|idea|doubt|change|reverse|not|make|on|sorry|too)\b)
      [a-z]{3,})"""
_DONE = r"""(?:answered|covered|explained|mentioned|named|given|stated|described|supported|addressed|omitted
    |left\ out|met|written|reasoned|argued|done|fulfilled|missed|identified|handled|included|justified
    |sourced|worded|phrased|put|lost|skipped|ignored|overlooked|found|used|shown|listed|solved|required|followed
    |ignored|misstated|invented|fabricated|unsupported|unanswered|unmentioned|unexplained|kept|lost)"""
_NOUN_FIRST = rf"""(?:[a-z]{{3,20}}\ )?{_JUDGED}\b"""
_FIRST_PERSON = r"""(?:I|we)\ (?:ch[o]+se|pick(?:ed)?|select(?:ed)?|ga?[iv]+e|prefer(?:red)?|rated?|scored?
    |assign(?:ed)?|award(?:ed)?|judged?|based|went\ with|decided)\b(?=.{0,120}\b(?:because|since|as|for|due|on|on\ the|given)\b)"""

_ENGLISH = rf"""
      {_LABEL}(?=\W|$) | {_BECAUSE} | {_FIRST_PERSON}
    | (?:the|this|these|its|their|an?|each|every|all|both|most|many|some|several|half\ (?:of\ )?(?:the)?|your|which|whose)
      \ (?:(?:{_MODIFIER}|{_QUALITY}|other|first|second|former|latter|whole|final|given|listed|required|asked|reference)\ ){{0,3}}{_JUDGED}\b
    | (?:it|he|she|they|this|which|that\ one|neither|both|one|the\ (?:first|second|former|latter|other)|both\ of\ them)
      \ (?:(?:{_MODIFIER}|clearly|therefore|thus)\ ){{0,2}}
      (?:{_VERB}\b | (?:is|are|was|has\ been|looks|feels|sounds)(?:n['’]t)?\ (?:{_MODIFIER}\ ){{0,3}}(?:{_QUALITY}|because|why|{_JUDGED})\b)
    | the\ (?!(?:score|rating|grade|verdict|order|winner|result|ranking|labels?|sides?|two|other|numbers?|opposite|reverse)\b)
      [\w-]+\ (?:[\w-]+\ ){{0,2}}(?:is|are|was|were)(?:\ (?:{_MODIFIER}|never|nowhere|hardly))*\ (?:{_DONE}|{_QUALITY})\b
    | the\ (?:more\ )?(?!other\b)\w+\ one\b(?<!wrong\ one)
    | (?-i:[A-H])\ (?:{_VERB}|is|was)\b
    | (?:(?:{_MODIFIER})\ ){{0,3}}(?:{_QUALITY}|{_VERB}|{_DONE})\b
    | (?:slightly|marginally|narrowly|clearly|strongly)$
    | {_NOUN_FIRST} | {_JUDGED}\ (?:[a-z0-9]{{1,2}}\b)?
"""

# -- how a reason begins, in other languages -------------------------------------------------------

_OTHERS = r"""
      (?:die|der|das|diese[rs]?|beide|alle)\ (?:erste\ |zweite\ )?(?:antwort(?:en)?|text|lösung|erklärung|wichtigsten|meisten|ursachen?|schritte)\b
    | antwort\ | weil\b | denn\b | da\ (?:sie|die|der|das|es)\b | begründung\b | erklärung\b | grund\b
    | (?:sie|er|es)\ (?:nennt|gibt|erklärt|enthält|beschreibt|beantwortet|fehl\w+|lässt|ist\ (?:voll|klar|gut|richtig|korrekt))
    | (?:sehr|fast|meist|weitgehend|größtenteils|teilweise|nur|recht|ziemlich)?\ ?(?:gut|vollständig|unvollständig|klar|korrekt|richtig|nennt|erklärt|gibt|enthält|es\ fehl\w+|fehlt)\b
    | (?:la|cette|les|le|ce|l['’])\ ?(?:première\ |seconde\ |deuxième\ |deux\ )?(?:réponses?|texte|explication|solution)\b
    | réponse\ | parce\ qu | car\b | puisqu | raison\b | justification\b | explication\b
    | (?:elle|il)\ (?:explique|donne|nomme|cite|répond|couvre|mentionne|contient|manque|omet|est\ (?:complète?|claire?|correcte?|exacte?))
    | (?:très\ |presque\ |plutôt\ |assez\ )?(?:bonne?|complète?|incomplète?|claire?|correcte?|explique|donne|manque)\b
    | (?:la|esta|el|este|las|ambas)\ (?:primera\ |segunda\ )?(?:respuestas?|texto|explicación|solución)\b
    | respuesta\ | porque\b | ya\ que\b | puesto\ que\b | razón\b | motivo\b | justificación\b | explicación\b
    | (?:muy\ |casi\ |bastante\ )?(?:buena|completa|incompleta|clara|correcta|explica|menciona|incluye|cubre|falta|nombra|da)\b
    | (?:la|questa|il|le|entrambe\ le)\ (?:prima\ |seconda\ )?(?:rispost[ae]|testo|spiegazione|soluzione)\b
    | risposta\ | perch[éè]\b | poich[éè]\b | motivazione\b | spiegazione\b | giustificazione\b
    | (?:molto\ |quasi\ |abbastanza\ )?(?:buona|completa|incompleta|chiara|corretta|spiega|cita|copre|manca)\b
    | (?:a|esta|o|as|ambas\ as)\ (?:primeira\ |segunda\ )?(?:respostas?|texto|explicação|solução)\b
    | resposta\ | pois\b | justificativa\b | explicação\b | razão\b
    | (?:muito\ |quase\ |bastante\ )?(?:boa|cobre|cita)\b
    | (?:het|dit|de|beide)\ (?:eerste\ |tweede\ )?(?:antwoord(?:en)?|reacties?|tekst|uitleg)\b
    | antwoord\ | omdat\b | want\b | reden\b | toelichting\b | uitleg\b | motivering\b
    | (?:ta\ |ob(?:ie|ydwie)\ )?odpowied(?:ź|zi)\b | ponieważ\b | gdyż\b | uzasadnienie\b | powód\b | wyjaśnienie\b
    | (?:этот\ |первый\ |второй\ |оба\ |данный\ )?ответ[аы]?\b | потому\ что\b | так\ как\b | поскольку\b
    | обоснование\b | причина\b | пояснение\b | объяснение\b
    | (?:очень\ |почти\ |довольно\ )?(?:хорошо|полный|неполный|ясно|верно|точный|называет|объясняет|упоминает)\b
    | (?:ця\ |перша\ |друга\ )?відповідь\b | тому\ що\b | оскільки\b | пояснення\b | обґрунтування\b
    | (?:bu\ |birinci\ |ikinci\ )?(?:yanıt|cevap)\b | çünkü\b | gerekçe\b | açıklama\b
    | (?:detta\ |det\ |båda\ )?svare[tn]?\b | eftersom\b | motivering\b | förklaring\b | fordi\b | begrunnelse\b | begrundelse\b
    | (?:tato\ )?odpověď\b | protože\b | zdůvodnění\b | (?:câu\ trả\ lời|phản\ hồi)\b | (?:bởi\ )?vì\b | lý\ do\b | giải\ thích\b
    | (?:jawaban|respons)\b | karena\b | alasan\b | penjelasan\b | vastaus\b | koska\b | perustelu\b
    | răspunsul\b | deoarece\b | pentru\ că\b | a\ válasz\b | mert\b | indoklás\b | επειδή\b | η\ απάντηση\b
    | 因为 | 由于 | 理由 | 原因 | 解释 | 说明 | 評価理由 | (?:该|这个?|此|本|两个?|第[一二]个?)?(?:回答|答案|回复|响应|文本)
    | 它(?!应) | 内容 | 大部分 | 基本(?:上)? | (?:非常|比较|较|很)?(?:完整|准确|清晰|全面|详细|正确|良好)
    | なぜなら | 根拠 | 説明 | (?:この|両方の?|どちらの?|最初の|[12一二]つ目の)?(?:回答|応答|解答|文章|返答)
    | 이유 | 왜냐하면 | 근거 | 설명 | (?:이\ |두\ |해당\ |첫\ ?번째\ |두\ ?번째\ )?(?:답변|응답|답)
    | لأن | السبب | التبرير | الشرح | التعليل | (?:هذه\ )?(?:الإجابة|الاجابة|الرد|الاستجابة)
    | क्योंकि | कारण | (?:यह\ |पहला\ |दूसरा\ )?(?:उत्तर|जवाब) | เพราะ | เหตุผล | คำตอบ | נימוק | התשובה
"""

# -- how a closing begins --------------------------------------------------------------------------

_CLOSING = r"""(?:i\ )?(?:really\ )?hope\ (?:this|that|it|my)\b | (?:please\ )?let\ me\ know\b | feel\ free\b | please\ feel
    | (?:would|do)\ you\ (?:like|want|need)\b | is\ there\ anything\b | thank(?:s|\ you)\b
    | \(?end\ of\b | end$ | done$ | (?:the\ )?evaluation\ (?:is\ )?(?:complete|done|finished) | no\ further\b
    | (?:that|this|which)(?:['’]s|\ is)\ (?:all\b|my\ (?:final\ )?(?:verdict|answer|decision|choice|score|rating|evaluation|judg\w+)$)
    | is\ my\ (?:final\ )?(?:verdict|answer|decision|choice|score|rating|evaluation|judg\w+)$
    | confidence\b | certainty\b | happy\ to\ help | have\ a\ (?:nice|great|good)\b | best\ regards | good\ luck
    | if\ you\ (?:need|have|would\ like|want)\b | any\ (?:other\ )?questions
    | ich\ hoffe\b | j['’]espère\b | espero\b | spero\b | надеюсь\b | 希望 | 以上"""

# -- what speaks of the verdict itself -------------------------------------------------------------

_OF_THE_VERDICT = r"""\b(?:wait|hold\ on|hm+|oops|nope|actually|sorry|apolog\w+|correct(?:ion|ed|ing)(?=\b.{0,30}(?:score|rating|verdict|winner|answer))|correction
    |in\ hindsight|on\ (?:reflection|second|balance|reread\w+)|(?:second|further)\ thoughts?|no\ longer|i\ mean|my\ (?:mistake|bad|error)
    |mistaken(?:ly)?|mis(?:read|judged?|labell?ed|took|placed|counted)|mix(?:ed)?\ (?:them\ |these\ |it\ )?up|confused\ (?:the\ two|them)|should(?:n['’]t)?\ (?:be|have|say|read|get)|ought
    |(?:please\ |now\ )ignore|ignore\ (?:this|that|the\ above|my|it)|disregard|overrule\w*|chang(?:e|ed|ing)\ (?:my|the|it|this|that)
    |re-?(?:consider|vis|read|think|evaluat|assess|grad|scor|rat)\w*(?:ing|ed|s|e)?|retract\w*|withdraw\w*|revok\w*|rescind\w*|(?:scratch|strike)\ (?:that|it|this)
    |looking\ (?:again|closer|back)|too\ (?:generous|harsh|high|low|lenient|strict|much\ credit|kind|good)
    |(?:not|less)\ (?:\w+\ )?(?:certain|sure|confident)|un(?:sure|certain)\ (?:about|of)\ (?:this|my|the\ (?:score|verdict))
    |(?:that|this)(?:\ is|['’]s|\ was)\ (?:wrong|not|incorrect|false|a\ (?:mistake|typo|joke|draft|placeholder))
    |swap(?:ped)?|revers(?:e|ed|ing)|switch(?:ed)?|flip(?:ped)?|invert(?:ed)?|other\ way|opposite|vice\ versa|wrong\ (?:way|one|order|number|side|label)|deserv\w+
    |kidding|joking|joke|sarcas\w*|ironic\w*|not\ really|typo|meant|delete|cancel(?:led)?|overturn\w*|downgrad\w+|upgrad\w+
    |(?:lower|raise|reduce|bump|drop|increase|make|set|call|take|leave|put)\ (?:it|this|that|mine)\b|never\s?mind|revis\w+|amend(?:ed|s)?|adjust\w*|undo|void|overridden|override
    |(?:could|might|may|can|would)\ (?:also\ |just\ as\ well\ |well\ |even\ )?(?:be(?!\ (?:improved|more|clearer|longer|shorter|deeper|expanded|stronger|tighter))|go|have\ been|argue|see|say|give|choose|pick|prefer)|either\ way|toss-?up|coin
    |(?:score|rating|grade|verdict|mark|points?)\ (?:is|was|seems|looks|feels|should|needs|must|ought|may|might|could|of\ mine)
    |(?:higher|lower|better|worse)\ (?:score|rating|grade|mark)|(?:half\ )?a\ (?:point|star|notch|grade)\b|(?:one|two)\ (?:points?|notch(?:es)?|stars?|grades?)
    |lean(?:ing|s)?\ (?:to|towards?)|borderline|torn|maybe|perhaps|final\ answer)\b
    | \b(?:verdien\w*|zu\ (?:hoch|niedrig|gut|streng|großzügig|milde?)|sollte|müsste|eigentlich|doch|irrtum|geirrt|verwechsel\w*|vertausch\w*|umgekehrt|korrektur|quatsch|moment|stopp?|lieber|eher)\b
    | \b(?:mérit\w+|trop|devrait|plutôt\ (?:la|le|un|une)|en\ fait|en\ réalité|inverse\w*|erreur\ de\ ma|trompée?|corrig\w+|pardon|attend\w*|finalement)\b
    | \b(?:merec\w+|demasiado|debería|mejor\ dicho|en\ realidad|al\ revés|equivo\w+|corrijo|corrección|perdón|espera|invier\w*|pensándolo)\b
    | \b(?:merita\w*|troppo|dovrebbe|in\ realtà|contrario|sbagli\w+|correggo|scusa\w*|aspetta|anzi)\b
    | \b(?:demais|deveria|na\ verdade|engan\w+|corrijo|desculp\w+|espere|aliás)\b
    | \b(?:eigenlijk|te\ (?:hoog|laag)|zou\ moeten|vergis\w*|omgekeerd|correctie|toch)\b
    | \b(?:właściwie|zbyt|powin\w+|pomył\w+|odwrotnie|korekta|jednak)\b
    | заслуж | слишком | долж | на\ самом\ деле | наоборот | ошиб(?:ся|лась|ка\ моя) | перепут | исправ | погоди | нет, | вернее | завыс | заниж
    | 其实 | 实际上 | 事实上 | 应该?(?:是|给|为|改) | 应得 | 太[高低] | 偏[高低] | 过[高低] | 不对 | 更正 | 纠正 | 相反 | 颠倒 | 搞错 | 看错 | 看反 | 弄反 | 写错 | 抱歉 | 等等 | 收回 | 改为 | 改成 | 反过来
    | 実は | 実際 | べき | すぎ | 過ぎ | 逆 | 訂正 | 間違 | 誤り?で | 取り消 | 撤回 | やはり | やっぱり | すみません | 待って | 修正
    | 사실 | 너무 | 반대 | 정정 | 실수 | 잘못 | 취소 | 아니 | 죄송 | 다시 | 수정 | 바꿔 | 바뀌
    | في\ الواقع | عذر | العكس | خطأ | تصحيح | असल | माफ़ | ग़?लत | उल्ट | aslında | yanlış | ters | thực\ ra | nhầm | sebenarnya | salah | terbalik
"""

_HOW = re.IGNORECASE | re.VERBOSE | re.DOTALL
_BEGINS = re.compile(
    rf"(?:{_LABEL}\W{{1,9}})?(?:{_LINK}\W{{1,3}}){{0,2}}(?:{_ENGLISH}|{_OTHERS}|(?P<closing>{_CLOSING}))", _HOW
)
_SPEAKS_OF_IT = re.compile(_OF_THE_VERDICT, _HOW)
# First persons: a judge that speaks of itself seldom does so for the response's sake.
_SELF = re.compile(r"(?<![\w’'])(?:I|[Mm]y|[Mm]e|[Ww]e|[Oo]ur|[Ii]ch|[Mm]ein\w*|[Jj]e|[Mm]on|[Yy]o|[Mm]i|[Ee]u|[Ii]o)(?![\w])|我|私|나는|저는|[Яя]\b")
_ENDS = re.compile(r"(?<=[!?;。！？；])|(?<=[.])(?=\s)|\n+")
_LEADING = re.compile(r"(?:[^\w]|_)*(?:\d{1,2}[.)]\s)?(?:[^\w]|_)*")

_TRAILING = re.compile(r"[^\w?]*")


def sentences(words: str) -> Iterator[str]:
    """The sentences in which anything is said, without the marks before them."""
    for part in _ENDS.split(words):
        said = part[_LEADING.match(part).end() :]  # type: ignore[union-attr]
        said = said[: len(said) - len(_TRAILING.match(said[::-1])[0])]  # type: ignore[index]
        if said:
            yield said


def explains(words: str) -> bool:
    """Whether words behind a verdict are reasons for it, closings, or none at all."""
    if len(words) > LONGEST:
        return False
    return all(_is_harmless(sentence) for sentence in sentences(words))


def _is_harmless(sentence: str) -> bool:
    begins = _BEGINS.match(sentence)
    if begins is None or _SPEAKS_OF_IT.search(sentence):
        return False
    return begins["closing"] is not None or _SELF.search(sentence, begins.end()) is None


# -- before a verdict ------------------------------------------------------------------------------

# Right before a verdict, in the same clause: it is named, and not given.
_DENIED = re.compile(
    r"""(?:\b(?:not|never|cannot|no|nor|neither|without|unless|if|wrong|instead\ of|rather\ than|anything\ but
    |far\ from|refus\w+|reject\w*|avoid\w*|against|nicht|kein\w*|statt|pas|jamais|sauf|nunca|jamás|non|mai|não
    |niet|geen|nie|не|нет|değil)\b|n['’]t\b|不|别|没有|ない|않)
    [^.,:;!?()\n。，：]{0,30}$""",
    re.IGNORECASE | re.VERBOSE,
)


def is_denied(before: str) -> bool:
    """Whether the words before a verdict say that it is not one: "not", "instead of", "if"."""
    return _DENIED.search(before) is not None
