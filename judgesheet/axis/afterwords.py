"""What may follow a verdict: marks, a closing, or a reason. Anything else may take it back.

What takes a verdict back cannot be listed: there are too many ways and languages. So the rule is
the other way round, and words are known by what they are. They are read sentence by sentence, each
must begin as a reason or a closing does, and none may speak of the verdict itself. A sentence in an
unknown language, an instruction, a joke or a turn that nobody thought of begins like neither, and
the reply is unreadable: lost replies are counted and imputed, misread ones are not.
"""

import re
from collections.abc import Iterator, Mapping

LONGEST = 4_000
"""Characters of afterwords; a judge that goes on for longer does something else."""

_HOW = re.IGNORECASE | re.VERBOSE | re.DOTALL


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern in which `«a b_c»` stands for any of the words in it, `_` for a space."""
    return re.compile(re.sub("«([^»]*)»", lambda one: _any(one[1]), pattern), _HOW)


def _any(words: str, end: str = r"\b") -> str:
    """A pattern of any of these words, `_` for a space."""
    return f"(?:{'|'.join(words.split())}){end}".replace("_", r"\s")


# -- how a reason begins, in English ---------------------------------------------------------------

_LABEL = rf"""(?:(?:brief|short|key|my|the)\s)?«reasons? reasoning rationale explanations? why
    justification feedback comments? analysis assessment evaluation summary details? strengths?
    weakness(?:es)? notes? criterion evidence differences?»"""
_LINK = _any("""however also additionally further(?:more)? moreover overall in_addition in_short
    in_summary in_contrast in_conclusion summing_up to_sum_up besides still but and though although
    while whereas yet so thus therefore hence for_example for_instance specifically in_particular
    finally lastly firstly meanwhile at_the_same_time as_a_result that_is_because this_is_because""")
_BECAUSE = _any("""because since as due_to given owing_to in_view_of based_on for with without despite
    compared_to compared_with according_to graded judged rated scored_on""")
_JUDGED = _any("""responses? answers? candidates? texts? author writer model assistant explanations?
    solutions? advice repl(?:y|ies) summar(?:y|ies) stor(?:y|ies) essay tone style language structure
    organi[sz]ation steps? causes? facts? details? content points? parts? main central key core year
    units? dosages? sources? request question user descriptions? criteri(?:on|a) remed(?:y|ies)
    fix(?:es)? rest information argument examples? lists? statements? claims? dates? figures? names?
    warnings? instructions? reasoning conclusion calculation code function method approach idea issue
    problem error gap flow coverage accuracy clarity depth length wording grammar spelling formatting
    limits? values? temperatures? amounts? proof derivation recipe diagnosis treatment risks? plan
    references? quot(?:es?|ation) winner""")
_VERB = _any(r"""gives? names? covers? identif(?:y|ies) explains? mentions? lists? provides? offers?
    describes? states? answers? address(?:es)? includes? contains? omits? miss(?:es)? lacks? leaves?
    fails? ignores overlooks? confuses? mixes gets? makes? uses? shows? demonstrates? presents? meets?
    fits? match(?:es)? follows? satisf(?:y|ies) fulfil?ls? handles? keeps? stays? reads? captures?
    recogni[sz]es? acknowledges? suggests? recommends? warns? focus(?:es)? relies repeats?
    contradicts? invents? adds? goes falls? do(?:es)? has have needs? requires? touches combines?
    delivers? conveys? communicates? reflects? remains? seems? appears? works? solves? points? notes?
    tells? says? supplies agrees? sets? picks? urges? computes? finds? backs? blames? links? rejects?
    builds? restates? discuss(?:es)? compares? hints? claims? derives? confirms? differs? begins?
    starts? ends? stops? treats? cites? quotes? assumes? skips? drops? neglects? outlines?
    illustrates? clarif(?:y|ies) stands? wins? summari[sz]es? lays walks runs helps? advises? tackles?
    speaks? responds? corresponds? aligns? deals? talks? means? indicates? shows? earns?
    (?:do|does|did|is|are|was|were|has|have|can)(?:n['’]t|_not)_\w+""")
# Adverbs say how well something is done, but for those that turn.
_MODIFIER = _any(r"""very quite mostly fairly rather somewhat just also not n['’]t both all more less
    well otherwise alone a an the pretty so almost only never
    (?!actual|real|honest|frank|mistaken|wrong|accidental|supposed|original|previous|initial)\w{3,12}ly
    """)
_QUALITY = _any(r"""good great excellent outstanding perfect strong solid weak poor fair decent fine
    adequate acceptable satisfactory average mediocre middling complete incomplete partial full
    thorough detailed comprehensive clear unclear vague correct incorrect accurate inaccurate relevant
    irrelevant concise brief short long verbose thin shallow deep rich helpful unhelpful useful
    useless practical safe unsafe harmless harmful polite warm cold friendly formal natural fluent
    readable coherent incoherent logical organi[sz]ed structured consistent inconsistent specific
    generic general right sound sober honest cautious careful reliable unreliable plausible convincing
    persuasive compelling creative dull engaging balanced biased neutral informative insightful
    superficial minimal missing absent present lacking wrong false true misleading confusing confused
    off-topic on-topic simple basic superb exemplary sufficient insufficient limited extensive usable
    flawed flawless near above_average below_average well[-\s]\w+ better worse best worst highest
    lowest top medium high low minor major small slight serious one two three some most many much few
    several half about around at_least nothing none neither never either each every everything
    anything another more less on_topic on_point spot[-\s]on see_above by of to_the_point in_line
    no_(?!(?:that|this|it|wait|way|i|longer|more|idea|doubt|change|reverse|not|make|on|sorry|too)\b)[a-z]{3,}
    """)
_DONE = _any("""answered covered explained mentioned named given stated described supported addressed
    omitted left_out met written reasoned argued done fulfilled missed identified handled included
    justified sourced worded phrased put lost skipped ignored overlooked found used shown listed
    solved required followed misstated invented fabricated unsupported unanswered unmentioned
    unexplained kept""")
# A noun that the words above do not know, with a predicate that they know.
_ANY_SUBJECT = rf"""the\s(?!«score rating grade verdict order winner result ranking labels?
    sides? two other numbers? opposite reverse»)[\w-]+\s(?:[\w-]+\s){{0,4}}?(?:is|are|was|were)
    (?:\s(?:{_MODIFIER}|never|nowhere|hardly))*\s(?:{_DONE}|{_QUALITY})"""
_BE = r"(?:is|are|was|has\sbeen|looks|feels|sounds)(?:n['’]t)?"
# "I chose it because": of a judge that gives its reason.
_I = rf"""(?:I|we)\s«ch[o]+se pick(?:ed)? select(?:ed)? ga?[iv]+e prefer(?:red)? rated?
    scored? assign(?:ed)? award(?:ed)? judged? based went_with decided»
    (?=.{{0,120}}\b(?:because|since|as|for|due|on|given)\b)"""
_SCORE_REFLECTS = rf"""(?:the|this|my)\s(?:score|rating|grade|verdict|decision|choice|assessment)\s
    «reflects is_based was_based is_due was_made_on follows_from rests_on comes_from»"""

_ENGLISH = rf"""
    {_LABEL}(?=\W|$) | {_BECAUSE} | {_I} | {_SCORE_REFLECTS} | {_ANY_SUBJECT}
    | «the this these its their an? each every all both most many some several half which your»
      \s(?:of\s)?(?:the\s)?(?:(?:{_MODIFIER}|{_QUALITY}|«other first second former latter
      whole final given listed required asked reference»)\s){{0,3}}{_JUDGED}
    | «it he she they this which that_one neither both one both_of_them the_first the_second
      the_former the_latter the_other»
      \s(?:{_MODIFIER}\s){{0,2}}(?:{_VERB}|{_BE}\s(?:{_MODIFIER}\s){{0,3}}(?:{_QUALITY}|because|{_JUDGED}))
    | the\s(?:more\s)?(?!other\b|wrong\b)\w+\sone\b | (?-i:[A-H])\s(?:{_VERB}|is|was)\b
    | (?:{_MODIFIER}\s){{0,3}}(?:{_QUALITY}|{_VERB}|{_DONE})
    | (?:slightly|marginally|narrowly|clearly|strongly)$ | (?:[a-z]{{3,20}}\s)?{_JUDGED}
"""

# -- how a reason begins, in other languages -------------------------------------------------------

_OTHERS: Mapping[str, str] = {
    "German": rf"""antwort\s | das\sliegt\sdaran | da\s(?:sie|die|der|das|es)\b
    | (?:die|der|das|diese[rs]?|beide|alle)\s(?:erste\s|zweite\s)?«antwort(?:en)? text lösung
      erklärung wichtigsten meisten ursachen? schritte»
    | (?:sie|er|es)\s«nennt gibt erklärt enthält beschreibt beantwortet fehl\w+ lässt
      ist_(?:voll|klar|gut|richtig|korrekt)\w*» | «weil denn begründung erklärung grund»
    | (?:(?:sehr|fast|meist|weitgehend|größtenteils|teilweise|nur|recht|ziemlich)\s)?«gute?
      vollständig unvollständig klar korrekt richtig nennt erklärt gibt enthält es_fehl\w+ fehlt»
    """,
    "French": rf"""réponse\s | parce\squ | puisqu
    | (?:la|cette|les|le|ce|l['’])\s?(?:première\s|seconde\s|deuxième\s|deux\s)?«réponses?
      texte explication solution»
    | (?:elle|il)\s«explique donne nomme cite répond couvre mentionne contient manque omet
      est_(?:complète?|claire?|correcte?|exacte?)» | «car raison justification explication»
    | (?:(?:très|presque|plutôt|assez)\s)?«bonne? complète? incomplète? claire? correcte?
      explique donne manque»""",
    "Spanish": rf"""respuesta\s | «porque ya_que puesto_que razón motivo justificación
      explicación»
    | (?:la|esta|el|este|las|ambas)\s(?:primera\s|segunda\s)?«respuestas? texto explicación
      solución»
    | (?:(?:muy|casi|bastante)\s)?«buena completa incompleta clara correcta explica menciona
      incluye cubre falta nombra da»""",
    "Italian": rf"""risposta\s | «perch[éè] poich[éè] motivazione spiegazione giustificazione»
    | (?:la|questa|il|le|entrambe\sle)\s(?:prima\s|seconda\s)?«rispost[ae] testo spiegazione
      soluzione»
    | (?:(?:molto|quasi|abbastanza)\s)?«buona completa incompleta chiara corretta spiega cita
      copre manca»""",
    "Portuguese": rf"""resposta\s | «pois justificativa explicação razão»
    | (?:a|esta|o|as|ambas\sas)\s(?:primeira\s|segunda\s)?«respostas? texto explicação
      solução» | (?:(?:muito|quase|bastante)\s)?«boa cobre cita»""",
    "Dutch": rf"""antwoord\s | «omdat want reden toelichting uitleg motivering»
    | (?:het|dit|de|beide)\s(?:eerste\s|tweede\s)?«antwoord(?:en)? reacties? tekst uitleg»""",
    "Polish": rf"""(?:(?:ta|obie|obydwie)\s)?«odpowied(?:ź|zi) ponieważ gdyż uzasadnienie
      powód wyjaśnienie»""",
    "Russian": rf"""(?:(?:этот|первый|второй|оба|данный)\s)?«ответ[аы]?»
    | «потому_что так_как поскольку обоснование причина пояснение объяснение»
    | (?:(?:очень|почти|довольно)\s)?«хорошо полный неполный ясно верно точный называет
      объясняет упоминает»""",
    "Ukrainian": rf"(?:(?:ця|перша|друга)\s)?«відповідь тому_що оскільки пояснення»",
    "Turkish": rf"(?:(?:bu|birinci|ikinci)\s)?«yanıt cevap çünkü gerekçe açıklama»",
    "Nordic": _any("""(?:(?:detta|det|båda)_)?svare[tn]? eftersom motivering förklaring fordi
      begrunnelse begrundelse vastaus koska perustelu"""),
    "Czech, Romanian, Hungarian, Greek": _any("""odpověď protože zdůvodnění răspunsul deoarece
      pentru_că a_válasz mert indoklás η_απάντηση επειδή"""),
    "Vietnamese, Indonesian": _any("""câu_trả_lời phản_hồi (?:bởi_)?vì lý_do giải_thích jawaban respons
      karena alasan penjelasan"""),
    "Chinese": r"""因为|由于|理由|原因|解释|说明|(?:该|这个?|此|本|两个?|第[一二]个?)?(?:回答|答案|回复|响应|文本)
    |它(?!应)|内容|大部分|基本(?:上)?|(?:非常|比较|较|很)?(?:完整|准确|清晰|全面|详细|正确|良好)""",
    "Japanese": r"""理由|なぜなら|根拠|説明
    |(?:この|両方の?|どちらの?|最初の|[12一二]つ目の)?(?:回答|応答|解答|文章|返答)""",
    "Korean": r"""이유|왜냐하면|근거|설명|(?:이\s|두\s|해당\s|첫\s?번째\s|두\s?번째\s)?(?:답변|응답|답)""",
    "Arabic, Hindi, Thai, Hebrew": r"""لأن|السبب|التبرير|الشرح|التعليل
    |(?:هذه\s)?(?:الإجابة|الاجابة|الرد|الاستجابة)|क्योंकि|कारण|(?:यह\s|पहला\s|दूसरा\s)?(?:उत्तर|जवाब)
    |เพราะ|เหตุผล|คำตอบ|נימוק|התשובה""",
}

# -- how a closing begins --------------------------------------------------------------------------

_MY_VERDICT = "(?:final_)?(?:verdict|answer|decision|choice|score|rating|evaluation|judg\\w+)$"
_CLOSING = _any(
    rf"""(?:i_)?(?:really_)?hope_(?:this|that|it|my)\b (?:please_)?let_me_know\b feel_free\b
    please_feel (?:would|do)_you_(?:like|want|need)\b is_there_anything\b thank(?:s|_you)\b end_of\b
    end$ done$ (?:the_)?evaluation_(?:is_)?(?:complete|done|finished) no_further\b
    (?:that|this|which)(?:['’]s|_is)_(?:all\b|my_{_MY_VERDICT}) is_my_{_MY_VERDICT} confidence\b
    certainty\b happy_to_help have_a_(?:nice|great|good)\b best_regards good_luck
    if_you_(?:need|have|would_like|want)\b any_(?:other_)?questions ich_hoffe\b j['’]espère\b
    espero\b spero\b надеюсь\b 希望 以上""",
    end="",
)

# -- what speaks of the verdict itself -------------------------------------------------------------

# A turn: what goes before it no longer holds.
_TURN = rf"""
    «wait hold_on hm+ oops nope sorry apolog\w+ correction in_hindsight
    on_(?:reflection|second|balance|reread\w+) (?:second|further)_thoughts? i_mean[t]?
    my_(?:mistake|bad|error) mistakenly mis(?:read|judged?|labell?ed|took|placed)
    mix(?:ed)?_(?:them_|these_|it_)?up confused_(?:the_two|them) disregard
    (?:please_|now_)ignore ignore_(?:this|that|the_above|my|it) chang(?:e|ed|ing)_(?:my|it)
    re-?(?:consider|vis|think|evaluat|assess|grad|scor)\w* retract\w* withdraw\w* revok\w*
    (?:scratch|strike)_(?:that|it|this) looking_(?:again|closer|back) swap(?:ped)?
    revers(?:e|ed)_(?:that|it|the|this|my|order)? (?:switch|flip|invert)(?:ped|ed)?_(?:that|it|the|them)
    (?:got|were|are|was)_(?:switched|flipped|inverted|reversed|swapped) other_way_(?:a?round)
    vice_versa wrong_(?:way|one|number|side|label) kidding joking not_really typo cancel_(?:that|it)
    never_?mind overrid\w+ undo either_way toss-?up
    (?:this|that|it)_(?:is|was)_(?:only_|just_)?an?_(?:example|sample|placeholder|draft|test|joke)
    (?:that|this)(?:_is|['’]s|_was)_(?:wrong|incorrect|false|a_mistake)»
    | «verwechsel\w* vertausch\w* umgekehrt andersherum korrektur quatsch geirrt irrtum»
    | «je_me_(?:suis_)?tromp\w+ l['’]inverse pardon mi_equivo\w+ me_equivo\w+ al_revés
    perdón corrección mi_sono_(?:sbagliat|confus)\w+ al_contrario scusa\w* me_engan\w+
    ao_contrário desculp\w+ vergis\w* andersom omgekeerd pomył\w+ odwrotnie»
    | наоборот | перепут | ошибся | ошиблась | исправл | 更正|纠正|颠倒|搞错|看错|看反|弄反|写错|抱歉|等等|收回
    | 反过来|开玩笑 | 逆で|訂正|間違え|取り消|撤回|すみません|待って | 정정|실수|잘못\s?읽|취소|죄송|반대로|반대입
    | معذرة|العكس|تصحيح | माफ़|उल्टा | yanlışlıkla|tersi | nhầm | terbalik"""
# A reason is about what was judged; the verdict, its height and its author are not in it.
_OF_THE_VERDICT = rf"""
    «actually correct(?:ed|ing)_(?:my|the)_(?:score|verdict|winner) no_longer mistaken
    (?:should|must|needs?_to|has_to|ought_to)(?:n['’]t)?_(?:be|have_been|say|get)
    too_(?:generous|harsh|high|low|lenient|strict|much_credit|kind|good) deserv\w+ would_have
    (?:not|less)_(?:\w+_)?(?:certain|sure|confident) unsure lowered raised reduced docked deducted
    downgrad\w+ upgrad\w+ (?:lower|raise|reduce|bump|increase|make|call|take)_(?:it|this|that)
    (?:could|might|may|can)_(?:(?:also|even|well|just_as_well)_)?(?:go|have_been|argue|see|say|give)
    (?:could|might|may|would)_(?:(?:also|even|well)_)?be(?!_(?:improved|more|clearer|longer|shorter|better))
    (?:score|rating|grade|verdict|mark)_(?:was|seems|looks|feels|should|needs|must|may|might|could)
    (?:score|rating|grade|verdict|mark)_is(?!_(?:based|due)) sarcas\w* ironic\w*
    (?:higher|lower)_(?:score|rating|grade|mark) (?:half_)?a_(?:point|star|notch|grade)
    (?:one|two)_(?:points?|notch(?:es)?|stars?|grades?) (?:than|below|above|under|short_of)_(?:that|this)
    than_(?:i|it_seem\w*|thought|expected|stated|at_first) lean(?:ing|s)?_(?:to|towards?) borderline
    torn maybe perhaps final_answer opposite reversed»
    | «verdien\w* zu_(?:hoch|niedrig|gut|streng|großzügig|milde?) sollte müsste eigentlich
    doch lieber eher schlechter_als mérit\w+ trop devrait plutôt_l[ae] en_fait en_réalité finalement
    merec\w+ demasiado debería mejor_dicho en_realidad pensándolo merita\w* troppo dovrebbe
    in_realtà anzi demais deveria na_verdade aliás eigenlijk te_(?:hoog|laag) zou_moeten toch
    właściwie zbyt powin\w+ jednak aslında sebenarnya thực_ra»
    | заслуж | слишком | долж | на\sсамом\sделе | вернее | завыс | заниж | чем\s(?:казал|дума)
    | 其实|实际上|事实上|应该?(?:是|给|为|改)|应得|只值|[太偏过][高低]|不对|相反|改[为成]
    | 実は|実際|べき|すぎ|過ぎ|やはり|やっぱり|修正 | 사실|너무|반대|아니|다시|수정|바꿔|바뀌 | في\sالواقع|असल"""

_LANGUAGES = " | ".join(_OTHERS.values())
_BEGINS = compiled(
    rf"""(?:{_LABEL}\W{{1,9}})?(?:{_LINK}\W{{1,3}}){{0,2}}
    (?:{_ENGLISH} | {_LANGUAGES} | (?P<closing>{_CLOSING}))"""
)
_TURNS = compiled(rf"(?<![a-z])(?:{_TURN})")
_SPEAKS_OF_IT = compiled(rf"(?<![a-z])(?:{_TURN} | {_OF_THE_VERDICT})")
# A judge that speaks of itself seldom does so for the response's sake.
_SELF = re.compile(
    r"(?<![\w’'])(?:I|[Mm]y|[Mm]e|[Ww]e|[Oo]ur|[Ii]ch|[Mm]ein\w*|[Jj]e|[Mm]on|[Yy]o|[Mm]i|[Ee]u|[Ii]o|[Яя])"
    r"(?!\w)|我|私|나는|저는"
)
_ENDS = re.compile(r"(?<=[!?;。！？；])|(?<=[.])(?=\s)|\n+")
_LEADING = re.compile(r"[\W_]*(?:\d{1,2}[.)]\s[\W_]*)?")


def sentences(words: str) -> Iterator[str]:
    """The sentences in which anything is said, without the marks around them; ? stays."""
    for part in _ENDS.split(words):
        begin = _LEADING.match(part)
        said = part[begin.end() if begin else 0 :].rstrip()
        while said and not (said[-1].isalnum() or said[-1] == "?"):
            said = said[:-1]
        if said:
            yield said


def explains(words: str) -> bool:
    """Whether words behind a verdict are reasons for it, closings, or none at all."""
    return len(words) <= LONGEST and all(map(_is_harmless, sentences(words)))


def takes_back(words: str) -> bool:
    """Whether words beside a verdict, in its object, say that it no longer holds."""
    return _TURNS.search(words) is not None


def _is_harmless(sentence: str) -> bool:
    begins = _BEGINS.match(sentence)
    if begins is None or _SPEAKS_OF_IT.search(sentence):
        return False
    return begins["closing"] is not None or _SELF.search(sentence, begins.end()) is None


# -- before a verdict ------------------------------------------------------------------------------

# Right before a verdict, in the same clause: it is named, and not given.
_DENIED = compiled(
    rf"""(?:\b«not never cannot no nor neither without unless if wrong instead_of rather_than
    anything_but far_from refus\w+ reject\w* avoid\w* against nicht kein\w* statt pas jamais sauf
    nunca jamás non mai não niet geen nie не нет değil» | n['’]t\b | 不|别|没|ない|않)
    [^.,:;!?()\n。，：]{{0,30}}$"""
)


def is_denied(before: str) -> bool:
    """Whether the words before a verdict say that it is not one: "not", "instead of", "if"."""
    return _DENIED.search(before) is not None
