"""The words by which `afterwords` tells what follows a verdict: patterns alone, the rule is there.

`REASONS` and `CLOSING` are how a reason and a closing begin, `STATEMENT_BEGINNINGS` how other
statements do. `DESCRIPTIONS` say how what was judged is. `RETRACTION` and `ABOUT_THE_VERDICT` speak
of the verdict, `ACTS_OF_JUDGING` may. Tables are by language.

In a pattern `«a b_c»` stands for any of the words in it, each up to its end, and `‹a b›` for the
same where words have no visible end; `_` is a space.
"""

from collections.abc import Mapping

# -- how a reason begins, in English ---------------------------------------------------------------

_REASON_NOUN = r"""(?:(?:brief|short|key|my|the)\s)?«
      reasons? reasoning rationale explanations? why justification»"""
REASON_LABEL = rf"""(?:{_REASON_NOUN} | (?:(?:brief|short|key|my|the)\s)?«
      feedback comments? analysis assessment evaluation summary details? strengths?
      weakness(?:es)? pros cons positives negatives notes? criterion evidence differences?»)"""
REASON_KEY = r"""reason | rational | expla | justif | why | thought | think | analy | critique |
    feedback | [ck]omm?ent | assess | evaluat | summary | strength | weakness | evidence | differen
    | begruend | обосн | причин
    | pros\b | cons\b | grund | begründ | raison | motiv | raz[oó]n | 理由 | 说明 | 근거 | 이유"""
"""What is in the name of a key that asks for reasons."""
CONNECTIVE = r"""«
      however also additionally further(?:more)? moreover overall in_addition in_short
      in_summary in_contrast in_conclusion summing_up to_sum_up besides still but and though
      although while whereas yet so thus therefore hence for_example for_instance specifically
      in_particular even_though even_if finally lastly firstly meanwhile at_the_same_time
      as_a_result that_is_because this_is_because»"""
_CONJUNCTION = r"""«
      because(?!_you\b) since(?!_you\b)
      as(?!_(?:if|said|always|a_(?:joke|draft|test|placeholder|guess))) due_to instead_of given
      owing_to in_view_of based_on for_(?:its|the(?!_sake)|being|an?|not|lack|want) with without
      despite compared_to compared_with according_to graded judged rated scored_on»"""
_NOUN = r"""«
      responses? answers? candidates? texts? author writer model assistant explanations?
      solutions? advice repl(?:y|ies) summar(?:y|ies) stor(?:y|ies) essay tone style language
      structure organi[sz]ation steps? causes? facts? details? content points? parts? main
      central key core year units? dosages? sources? request question user descriptions?
      criteri(?:on|a) remed(?:y|ies) fix(?:es)? rest information argument examples? lists?
      statements? claims? dates? figures? names? warnings? instructions? reasoning conclusion
      calculation code function method approach idea issue problem error gap flow coverage
      accuracy clarity depth length wording grammar spelling formatting limits? values?
      temperatures? amounts? proof derivation recipe diagnosis treatment risks? plan references?
      quot(?:es?|ation) half halves sections? paragraphs? sentences? opening ending beginning
      introduction words? lines? numbers? tables? links? images? tools? letter message email
      poem joke warning example recipe winner»"""
# The third person: without its s a verb is what the judge tells somebody to do.
_VERB = r"""«
      gives names covers identifies explains mentions lists provides offers describes states
      answers addresses includes contains omits misses lacks leaves fails ignores overlooks
      confuses mixes gets makes uses shows demonstrates presents meets fits matches follows
      satisfies fulfil?ls handles keeps stays reads captures recogni[sz]es acknowledges suggests
      recommends warns focuses relies repeats contradicts invents adds goes falls does has needs
      requires touches combines delivers conveys communicates reflects remains seems appears
      works solves points notes tells says supplies agrees sets picks urges computes finds backs
      blames links rejects builds restates discusses compares hints claims derives confirms
      differs begins starts ends stops treats cites quotes assumes skips drops neglects outlines
      illustrates clarifies stands wins summari[sz]es lays walks runs helps advises tackles
      speaks responds corresponds aligns deals talks means indicates earns
      (?:do|does|did|is|are|was|were|has|have|can)(?:n['’]t|_not)_\w+
      (?:would|could|might)_(?!be\b|go\b|have\b|as\b|say\b)[a-z]{3,}»"""
_PLURAL_CLAUSE = r"""(?:they|both|neither|all|(?:the\s)?others?)\s(?:do\snot\s)?«
      exist agree give name cover say state make differ have contain provide offer explain
      mention describe list answer address omit miss lack use show meet follow reach get need
      share handle include»"""
# Adverbs say how well something is done, but for those that turn.
_MODIFIER = r"""«
      very quite mostly fairly rather somewhat just also not n['’]t both all more less well
      otherwise alone a an the pretty so almost only never
      (?!actual|real|honest|frank|mistaken|wrong|accidental|supposed|original|previous|initial)\w{3,12}ly»"""
_ADJECTIVE = r"""«
      equal identical similar alike the_same easy hard difficult tidy neat crisp nice lovely
      awkward clumsy repetitive redundant wordy terse sloppy rushed dense dry lively precise
      imprecise exact faithful respectful rude courteous professional casual suitable
      appropriate inappropriate apt meaningful valid invalid outdated obsolete original typical
      unrelated gibberish good great excellent outstanding perfect strong solid weak poor fair
      decent fine adequate acceptable satisfactory average mediocre middling complete incomplete
      partial full thorough detailed comprehensive clear unclear vague correct incorrect
      accurate inaccurate relevant irrelevant concise brief short long verbose thin shallow deep
      rich helpful unhelpful useful useless practical safe unsafe harmless harmful polite warm
      cold friendly formal natural fluent readable coherent incoherent logical organi[sz]ed
      structured consistent inconsistent specific generic general right sound sober honest
      cautious careful reliable unreliable plausible convincing persuasive compelling creative
      dull engaging balanced biased neutral informative insightful superficial minimal missing
      absent present lacking wrong false true misleading confusing confused off[-\s]topic
      on[-\s]topic simple basic superb exemplary sufficient insufficient limited extensive
      usable flawed flawless near above_average below_average well[-\s]\w+ better worse best
      worst highest lowest top medium high low minor major small slight serious one two three
      some most many much few several half about around at_least nothing none neither never
      either each every everything anything another more less on_topic on_point spot[-\s]on
      see_above to_the_point in_line
      no_(?!(?:that|this|it|wait|way|i|longer|more|idea|doubt|change|reverse|not|make|on|sorry|too)\b)[a-z]{3,}»"""
_PARTICIPLE = r"""«
      answered covered explained mentioned named given stated described supported addressed
      omitted left_out met written reasoned argued done fulfilled missed identified handled
      included justified sourced worded phrased put lost skipped ignored overlooked found used
      shown listed solved required followed misstated invented fabricated unsupported unanswered
      unmentioned unexplained kept
      too_(?:short|long|brief|vague|general|wordy|thin|technical|few|many)
      (?!changed|revised|updated|corrected|superseded|cancel|retracted|revoked|overruled|inverted|swapped|reversed|mixed|switched|confused)\w{3,}ed»"""
# A noun that the words above do not know, with a predicate that they know.
_OTHER_NOUN_CLAUSE = rf"""the\s(?!«
      scores? ratings? grades? verdict order winner results? ranking labels? sides? two other
      numbers? opposite reverse scale numbering digits? marks? points above»
    )[\w-]+\s(?:[\w-]+\s){{0,4}}?(?:
    (?:is|are|was|were)(?:\s(?:{_MODIFIER}|never|nowhere|hardly))*\s
      (?:{_PARTICIPLE}|{_ADJECTIVE}) | {_VERB})"""
_IS = r"(?:is|are|was|has\sbeen|looks|feels|sounds)(?:n['’]t)?"
# "I chose it because": of a judge that gives its reason.
_I_CHOSE = r"""(?:I|we)\s«
      ch[o]+se pick(?:ed)? select(?:ed)? ga?[iv]+e prefer(?:red)? rated? scored? assign(?:ed)?
      award(?:ed)? judged? based went_with decided»
    (?=.{0,120}\b(?:because|since|as|for|due|on|given)\b)"""
_NO_FAULT = r"""(?:I|we)\s«see saw find found»\sno\s(?:\w+\s){0,2}«
      differences? errors? mistakes? faults? gaps? flaws?»"""
_SCORE_REFLECTS = r"""(?:the|this|my)\s(?:score|rating|grade|verdict|decision|choice|assessment)\s
    «
      reflects is_based was_based is_due was_made_on follows_from rests_on comes_from»"""

# "To reach the top level it would have to": what another verdict would have asked for.
_FOR_MORE = r"""(?:to|for)\s(?:(?:reach|get|earn|achieve|merit)\s)?(?:the|an?|full)\s(?:\w+\s){0,2}?
    «level score grade marks rating»,?\s(?:it|they|the\s\w+)\s(?:would|has|have|needs?)\b"""

_REASON_IN_ENGLISH = rf"""
    {_FOR_MORE} | there\s(?:is|are)\s(?:no|little|not|some|also|only|one|an?)\b
    | {_REASON_NOUN}(?=\W|$) | {REASON_LABEL}\W*$ | {_CONJUNCTION} | {_I_CHOSE} | {_NO_FAULT}
    | {_SCORE_REFLECTS} | {_OTHER_NOUN_CLAUSE}
    | (?:«
      only just even mostly also»\s)?«
      the this these its their an? each every all both most many some several half which your»
      \s(?:of\s)?(?:the\s)?(?:(?:{_MODIFIER}|{_ADJECTIVE}|«
      other first second former latter whole final given listed required asked reference»
      )\s){{0,3}}(?:(?!«
      right real true actual wrong previous earlier above opposite reverse other two»
      )[\w-]+\s){{0,2}}{_NOUN}
    | «
      it he she they this which that_one neither both one both_of_them the_first the_second
      the_former the_latter the_other»
      \s(?:{_MODIFIER}\s){{0,2}}
      (?:{_VERB}|{_IS}\s(?:{_MODIFIER}\s){{0,3}}(?:{_ADJECTIVE}|because|{_NOUN}))
    | {_PLURAL_CLAUSE} | the\s(?:more\s)?(?!other\b|wrong\b)\w+\sone\b
    | (?-i:[A-H])\s(?:{_VERB}|is|was)\b
    | (?:{_MODIFIER}\s){{0,3}}(?:{_ADJECTIVE}|{_VERB}|{_PARTICIPLE}|{_NOUN}(?=\s))
    | (?!«
      score rating grade verdict order winner result i we my it that this»
      )(?:[a-z-]+\s){{1,2}}{_PARTICIPLE}
    | «
      partly mostly largely fully slightly marginally narrowly clearly strongly partially
      entirely»$
    | (?:(?!«
      wrong other draft placeholder dummy sample test example previous earlier actual that this
      my your best»
      )[a-z]{{3,20}}\s){_NOUN}
"""

# -- how a reason begins, in other languages -------------------------------------------------------

_REASON_WORD = r"""«
      weil denn begründung erklärung grund car parce_qu\w* puisqu\w* raison justification porque
      ya_que puesto_que razón motivo justificación perch[éè] poich[éè] motivazione giustificazione
      pois justificativa razão omdat want reden toelichting motivering потому_что так_как
      поскольку обоснование причина пояснение»
    | ‹因为 由于 理由 它(?!应) 大部分 基本 なぜなら 根拠 이유 왜냐하면 근거›"""

REASONS: Mapping[str, str] = {
    "English": _REASON_IN_ENGLISH,
    "that have a table of descriptions": _REASON_WORD,
    # Little is known of the rest: what was judged must stand at the beginning.
    "Polish": r"""(?:(?:ta|obie|obydwie)\s)?«
      odpowied(?:ź|zi) ponieważ gdyż uzasadnienie powód wyjaśnienie»""",
    "Ukrainian": r"(?:(?:ця|перша|друга)\s)?«відповідь тому_що оскільки пояснення»",
    "Turkish": r"(?:(?:bu|birinci|ikinci)\s)?«yanıt cevap çünkü gerekçe açıklama»",
    "Nordic": r"""«
      (?:(?:detta|det|båda)_)?svare[tn]? eftersom motivering förklaring fordi begrunnelse
      begrundelse vastaus koska perustelu»""",
    "Czech, Romanian, Hungarian, Greek": r"""«
      odpověď protože zdůvodnění răspunsul deoarece pentru_că a_válasz mert indoklás η_απάντηση
      επειδή»""",
    "Vietnamese, Indonesian": r"""«
      câu_trả_lời phản_hồi (?:bởi_)?vì lý_do giải_thích jawaban respons karena alasan
      penjelasan»""",
    "Arabic": r"""‹
      لأن السبب التبرير الشرح التعليل (?:هذه_)?(?:الإجابة|الاجابة|الرد|الاستجابة)›""",
    "Hindi, Thai, Hebrew": r"""‹
      क्योंकि कारण (?:(?:यह|पहला|दूसरा)_)?(?:उत्तर|जवाब) เพราะ เหตุผล คำตอบ נימוק התשובה›""",
}

# -- what a reason speaks of -----------------------------------------------------------------------

# What a response says or lacks, and how it is. Its name alone says too little: who takes a verdict
# back may name it too. No verb stands here that is also an imperative.
DESCRIPTIONS: Mapping[str, str] = {
    "English": _VERB,
    "German": r"""«
      antwort_\d gleichwertig nennt erwähn\w+ erklärt beschr[ei]\w+ gibt enthält umfasst deckt
      liefert bietet behandelt beantwortet bleibt fehl(?:t|en|ende[nrsm]?) lässt vergisst übergeht
      verschweigt genannt ausgelassen teilweise gute? erfüll\w+ funktioniert hilft erfindet
      (?:un)?(?:vollständig|genau|klar|sachlich|verständlich)\w*
      (?:ausführlich|oberflächlich|vage|knapp|allgemein|hilfreich|brauchbar|nützlich)\w*»""",
    "French": r"""«
      réponse_\d cite mentionne explique décrit donne contient couvre traite fournit propose
      répond reste manque(?:nt)? omet oublie néglige confond cité?e?s? mentionnée?s? expliquée?s?
      donnée?s? omise?s? absente?s? bonne remplit respecte parle fonctionne invente
      (?:in)?compl[eè]te?s? (?:im)?précis\w* claire?s? détaillée?s? superficiel\w* vagues? brèves?
      bref utiles? générale?s?»""",
    "Spanish": r"""«
      respuesta_\d citan? mencionan? explican? describen? dan? contienen? cubren? abarcan? tratan?
      ofrecen? responden? incluyen? faltan? omiten? confunden? repiten?
      (?:mencionad|explicad)[oa]s? (?:(?:in)?complet|(?:im)?precis|clar|detallad|vag)[oa]s?
      superficial(?:es)? breves? útil(?:es)? general(?:es)? buena cumplen? habla funciona
      inventa»""",
    "Portuguese": r"""«
      resposta_\d citam? mencionam? explicam? descrevem? dá contém cobrem? abordam? tratam?
      oferecem? respondem? inclui faltam? omitem? confundem? repetem? traz informa
      (?:citad|explicad)[oa]s? (?:(?:in)?complet|(?:im)?precis|clar|detalhad|vag)[oa]s?
      superficia(?:l|is) breves? út(?:il|eis) gera(?:l|is) boa cumpre atende fala funciona
      inventa»""",
    "Italian": r"""«
      risposta_\d cita(?:no)? menziona(?:no)? spiega(?:no)? descrive dà contiene copre tratta
      offre risponde include manca(?:no)? omette dimentica trascura confonde ripete
      (?:citat|spiegat)[oaie] (?:(?:in)?complet|(?:im)?precis|dettagliat|vag)[oaie] chiar[oaei]
      superficial[ei] brev[ei] util[ei] generic[oaie] buona soddisfa rispetta parla funziona
      inventa»""",
    "Dutch": r"""«
      antwoord_\d noemt vermeldt beschrijft geeft bevat dekt behandelt biedt beantwoordt blijft
      ontbreekt ontbreken vergeet genoemd uitgelegd vermeld
      (?:on)?(?:volledig|nauwkeurig|duidelijk)\w*
      (?:uitgebreid|oppervlakkig|vag|beknopt|nuttig|algemen)e?»""",
    "Russian": r"""«
      ответ_\d одинаков\w* называ[еюя]т\w* назван\w* упомина[еюя]т\w* упомянут\w* объясн\w+
      описыва[еюя]\w* описан\w* содержит даёт дает приводит раскрыва\w+ охватыва\w+ касается
      затрагива\w+ отвечает не_хватает отсутству\w+ пропущен\w* пропускает опущен\w* забывает
      (?:не)?полн(?:о|ый|ая|ое|ые|ее) (?:не)?точн\w+ (?:не)?ясн\w+ подробн\w+ поверхностн\w+
      крат[ко]\w+ полезн\w+ расплывчат\w+ общ(?:о|ий|ее|ие) выполн\w+ соответств\w+»""",
    "Chinese": r"""‹
      回答_?\d 写明 解释了 提到 提及 指出 给出 列出 涵盖 包含 包括 描述 介绍 缺少 缺乏 没有 遗漏
      漏 未提 忽视 完整 全面 清晰 清楚 详细 具体 笼统 简略 模糊 有用 要求 满足 符合›""",
    "Japanese": r"""‹
      [回応]答_?\d 正確 挙げ 述べ 示 触れ 含 書かれ 扱 押さえ 答え 網羅 欠け 抜け 不足 ありません
      がない 足り 漏れ 不十分 完全 明確 詳し 具体 曖昧 簡潔 [分わ]かり(?:やす|にく)
      読み(?:やす|にく) 役に立 条件 満た›""",
    "Korean": r"""‹
      (?:답변|응답)_?\d 설명[하합해] 정확 밝[히힙] 언급 제시 다루 다룬 나열 포함 밝히 빠져 빠졌
      빠진 누락 부족 없 완전 명확 자세 구체 모호 간결 유용 일반적 요구 충족›""",
}

# -- statements, known by their small words --------------------------------------------------------

# First words of a statement, but not of an order, an exclamation or an answer. There is no end of
# nouns, verbs and adjectives; articles, prepositions, quantifiers and question words do.
STATEMENT_BEGINNINGS: Mapping[str, str] = {
    "English": r"""«
      the an? there what where when while whereas from in on at to of by for with without within
      as since because although though only nothing none neither nor each every all
      both most many much some several half parts? either who two three four five six under after
      before between beyond among across despite besides had its their his her
      [a-z]{3,}ly [a-z]{3,}[^sui]s»""",
    "German": r"""«
      der die das(?!_(?:war|ist|sind|wäre|hier)) den dem des eine?[nmrs]? es im in bei
      mit ohne nur lediglich allein alles alle nichts zwei drei vier wer was wo wie beim zum zur
      für von vom auch hier dort sowohl weder
      manche viele einige wenige fast jede[rsmn]? beide[sn]?»""",
    "French": r"""«
      la le les l['’]\w+ un une des du de il elle on dans sur sans avec pour seule?s? tout toute?s?
      tous rien deux trois plusieurs chaque quelques ni»""",
    "Spanish": r"""«
      el la los las una? unos unas de del en con sin para por sol[oa] sólo solamente todo toda
      todos todas nada falta[n]? hay se cada dos tres ningun[oa]? aunque»""",
    "Portuguese": r"""«
      o a os as uma? uns umas do da dos das em no na nos nas com sem para por só apenas todo toda
      todos todas nada falta[m]? há cada dois duas três embora»""",
    "Italian": r"""«
      il lo la i gli le una? uno di del della dei delle in nel nella con senza per solo soltanto
      tutto tutta tutti tutte nulla niente manca(?:no)? due tre ogni ciascun[oa]?»""",
    "Dutch": r"""«
      de het(?!_(?:is|was)) een er in op bij met zonder voor van alleen slechts alles niets
      elk elke twee drie beide alle veel weinig enkele»""",
    "Russian": r"""«
      в на из без для по с у не все всё два три каждый только лишь указан\w* отсутству\w+»""",
    # Without spaces a sentence has no first word: it is as long as several, and says nothing below.
    "Chinese": r"[一-鿿][一-鿿，、,]{5,}$",
    "Japanese": r"(?=.{0,200}[ぁ-ん])[一-鿿ぁ-んァ-ヶー、]{8,}$",
}
WITHOUT_SPACES = ("Chinese", "Japanese", "Korean")

# What somebody who judges has before them and does: read, think, compare, confuse, correct, swap,
# withdraw, confirm, add and deduct. A sentence without any of it cannot be about the
# verdict. A word that is an ordinary one in another of these languages stands with its neighbours.
ACTS_OF_JUDGING: Mapping[str, str] = {
    "any, at the beginning": r"""^«
      no nope nein non não нет nee nie ok(?:ay)? well yes ja oui s[íi] sim да oh ah ach eh uh ugh
      bah err um hm \w+_(?:no|non|nicht|não|нет) bueno bom beh ну»(?=\W*[,.!…:;—–-]|$)""",
    "English": r"""«
      scor\w+ rat(?:e|ed|ing|ings) grad(?:e|es|ed|er|ing) marks? verdicts? decision\w*
      cho(?:ice|ose|sen) pick\w* winners? results? judg\w+ labels? ranking
      (?:the|in|of|reversed?)_order scales? levels? rank\w* assess\w* evaluat\w+ instead rather
      again above previous\w* earlier original\w* initial\w* correct(?:ion|ed|ing) higher lower
      notch stars? please you your let me us this that these those if unless reconsider\w*
      chang\w+ updat\w+ revis\w+ now final\w* way everything_else points a_point point_de_moins
      placeholder instruct\w+ told asked_to joke serious\w* grain
      (?:an?|the|be|is|to|say|like|as|or|than|just|exactly)_(?:one|two|three|four|five|six|seven|eight|nine|ten)$
      (?:is|ist|est|es|è|é|be|to|an?|auf|zu|een|une?)_\d{1,2} subtract\w* add_\w+ deduct\w*
      count_\w+ read_\w+»""",
    "German": r"""«
      das_(?:war|ist|sind|wäre) noten? note wertung bewertung
      (?:\d|eine?n?|zwei|halbe[rn]?|mehr|weniger|paar)_punkte? punktzahl urteil entscheidung
      sieger gewinner dies(?!elbe)\w*(?!_(?:antwort|erklärung|text)) jen\w* bitte
      sie_(?:bitte|müssen) oben vorher vorhin zuvor stufen? skala wenn falls sonst nein wäre hätte
      bewert\w+ ver(?:wechs|tausch)\w+ (?:ge|nach)?les\w+ gesehen überleg\w+ gemeint meinte
      geschrieben entsch[ie]\w+ gewählt gewertet (?:ge)?prüf\w* korrig\w+ korrektur
      (?:ge)?änder\w+ (?:ge)?tausch\w+ streich\w+ ignorier\w+ vergiss zurück\w* spaß scherz
      versehentlich zahl nummer ziffer letztere\w* vorläufig (?:noch_?mal|erneut|wieder) höher
      niedriger möchte würde könnte dürfte ziehe nehme mir mich wir uns gestrichen annull\w+
      (?:un)?gültig hinfällig nichtig gelöscht (?:un)?bestätig\w+ vorbehalt gewähr später folgt
      (?:falsche|richtige)[nrsm]?_(?:antwort|text|datei|frage)\w* andere_antwort_gemeint war abzug
      abgezogen abziehen minus_ein\w* geladen (?:ge)?zähl\w+ hinsehen hinschauen betracht\w+ blick
      tiefer als_(?:angenommen|erwartet|gedacht) streng_genommen»""",
    "French": r"""«
      noter? notes jugement verdict choix gagnant ci-dessus précédent\w* échelle
      (?<!non\s)si(?!_è) cela ceci ça serait reli[st]\w* relu\w* lis lu lire vu vois pens\w+
      réfléch\w* réflexion écri[st]\w* décid\w+ évalu\w+ vérifi\w+ corrig\w+ correction chang\w+
      modifi\w+ invers\w+ échang\w+ annul\w+ ignorez oubliez retir\w+ plaisant\w+ confondu\w*
      tromp\w+ provisoire nouveau niveau chiffre numéro vous nous moi tu plutôt vaut j['’]\w+
      votre veuillez nulle? invalid\w+ supprim\w+ confirm\w+ réserve garantie à_\w{3,}(?:er|re)$
      visée? (?:bon|mauvais)_texte était enlev\w+ retranch\w+ soustra\w+ pénalité pas_encore
      regard\w+ relecture d['’](?:un_autre|avant) prévu cran compt\w+»""",
    "Spanish": r"""«
      nota notas (?:\d|dos|medio)_puntos? punto_menos puntuaci[óo]n veredicto elecci[óo]n ganador
      anterior arriba escala esto eso sería (?:he|hemos)_\w+[dst]o rele\w+ le[íi]\w* visto v[eé]o
      pens\w+ escrib\w+ escrit[oa] decid\w+ elij\w+ evalu\w+ verific\w+ revis\w+ corr[ei][gj]\w+
      corrección cambi\w+ modific\w+ inver[st]\w+ intercambi\w+ anul\w+ ignoren?
      olvid(?:e|en|ad|o)\w* retir\w+ retract\w+ broma confundí confundido equivo\w+ provisional
      nuevo nivel número usted nosotros quise quiero menos quizás? creo inválid\w+ borr\w+
      cancel\w+ confirm\w+ pendientes? por_\w+r$
      sin_(?:verificar|comprobar|revisar|confirmar|leer)$ equivocad[oa] era quít\w+ quitar?
      restar_\w+ descont\w+ descuento mir[aá]\w* vista previsto leyó cont(?:ado|ada|é)\w*»""",
    "Portuguese": r"""«
      (?:\d|dois|meio)_pontos? ponto_a_menos pontuação veredito escolha vencedor acima isto isso
      seria \w+[qg]uei errei escrevi confundi inverti rele\w+ lendo lido visto vejo escrev\w+
      decid\w+ avali\w+ verifi\w+ mud\w+ alter\w+ invert\w+ troc\w+ esqueç\w+ ^esquece brinca\w+
      engan\w+ errad[oa]$ provisóri[oa] novo nível você nós talvez acho nota desconsider\w+
      anul\w+ cancel\w+ inválid\w+ apag\w+ confirm\w+ pendentes? por_\w+r$
      text[oa]_(?:errad|cert)[oa] era tire tirar descont\w+ subtra\w+ olh\w+ releitura
      contad\w+»""",
    "Italian": r"""«
      (?:\d|due|mezzo)_punt[io] punto_(?:in_)?meno voto voti punteggio giudizio scelta vincitore
      sopra precedente questo(?!_testo) quello sarebbe (?:ho|abbiamo)_\w+[st]o rilegg\w+ rilett\w*
      legg\w+ lett[oa] vedo ripens\w+ scriv\w+ scritt[oa] deciso scelg\w+ valut\w+ rived\w+
      correggo correzione camb\w+ scamb\w+ dimentica(?:te|lo) ritir\w+ scherz\w+ confus[oa]
      sbagli\w+ provvisori[oa] livello numero noi volevo voglio meno forse credo annull\w+ nullo
      invalid\w+ cancell\w+ verific\w+ conferm\w+ da_\w+re$ era togli\w* detra\w+ sottra\w+
      guard\w+ vedere (?:ri)?lettura previsto d[ia]_prima»""",
    "Dutch": r"""«
      cijfer punten oordeel keuze winnaar hierboven schaal dit dat zou als_(?:je|we|u) gelezen
      lees gezien zie dacht denk geschreven besl\w+ kies gekozen beoordeel\w* vergel\w+
      controleer\w* correctie verander\w+ wijzig\w+ verwissel\w+ ruil\w+ omgedraaid negeer grapje
      verward voorlopig opnieuw niveau getal nummer ik mij wij slechter hoger lager misschien
      liever vervallen ongeldig geschrapt bevestig\w+ voorbehoud later aftrek\w* minus_een kijk\w+
      bekeken bij_nader»""",
    "Russian": r"""«
      оценк\w* балл\w* выбор\w* выше вердикт\w* шкал\w* это эт[аоуи]\w*(?!_ответ) если бы
      верн\w+_\d (?:пере|про)?чита\w+ смотр\w+ вижу (?:по)?дума\w+ (?:на)?писа\w+
      реш(?:ил|аю|ила)\w* оцени\w+ сравн\w+ провер\w+ поправ\w+ исправ\w+ (?:из|по)?мен[яи]\w+
      отмен\w+ игнорир\w+ забуд\w+ беру обратно шуч\w+ шутк\w+ ошиб\w+ предварительн\w+ снова
      уровен\w* числ\w* номер\w* цифр\w* вы вас я мы мне меня ниже друг(?:ой|ая|ое) пожалуй скорее
      стоп больше меньше много простите извините аннулир\w+ недейств\w+ удал\w+ подтвер\w+
      под_вопросом позже прочит\w+ не_т(?:от|а|о) был[аои]? минус_(?:один|балл\w*) вычет\w*
      вычесть сним\w+ рассмотр\w+ присмотр\w+ взгляд\w* (?:по)?счита\w+ посчитан\w* прошл\w+»""",
    "Chinese": r"""‹
      我 你 您 请 吧 分(?![别析布钟为之かの]) 评 应 该[是给改为] 改 这 那 此 上 前 后来 才
      是[一二三四五] 作废 数 反 错 别 算 再 还是 忽略 无视 取消 收回 当真 笑 重[新来评算] 其实
      实际上 等[等一下] 换 调(?!味) 更(?![好完详准清全佳优具]) 是第[一二] 另 觉得 认为 选[择错] 判
      [写读][错反] 再[想读] 颠倒 撤 重新 有误 [不没]算 拿错 未[查核] 稍后 减 扣 细看 一看 看[错来]
      没有?读 [一两]?档 抱歉 对不起 暂 等级 玩笑›""",
    "Japanese": r"""‹
      私 評 べき この その これ それ 今 訂 違 逆 やはり やっぱり いや 本当 むしろ ください くれ
      無視 ではな 直[しす] 変 忘 思 嘘 ごめん すみ わけ 冗談 点$ つ目 読み(?!やす|にく) 読ん
      見(?:直|間違|て(?!い)|ると|れば) 考え(?:直|てみ|ると) 選 判定 入れ替 段階 番号 申し訳 待って
      暫定 気が いえ 厳し 甘 自信 仕方 保留 取り違 誤解 別の 別物 なかった$ 後で 減 下げ 上げ 一段
      前の›""",
    "Korean": r"""‹
      점수 \d\s?점 평가 판정 결정 승자 등급 이전 다시 취소 정정 바꾸 바꿔 바뀌 수정 반대 무시 잘못
      실수 착각 (?<![가-힣])(?:내가|나는|저는|제가|위의|다른) 주세요 하세요 십시오 아니 아닙
      맞(?:네|겠|아|습니다$) 낮추 높이 올리 내리 너무 생각 보니 봤 읽 임시 농담 죄송 잠깐 혼동
      오해 보류 나중 빼_ 감점 깎 보면 살펴 앞의 한_단계›""",
}

# -- how a closing begins --------------------------------------------------------------------------

_VERDICT_END = "(?:final_)?(?:verdict|answer|decision|choice|score|rating|evaluation|judg\\w+)$"
CLOSING = rf"""‹
      (?:i_)?(?:really_)?hope_(?:this|that|it|my)\b (?:please_)?let_me_know\b feel_free\b
      please_feel (?:would|do)_you_(?:like|want|need)\b is_there_anything\b thank(?:s|_you)\b
      end_of\b end$ done$ (?:the_)?evaluation_(?:is_)?(?:complete|done|finished) no_further\b
      (?:that|this|which)(?:['’]s|_is)_(?:all\b|my_{_VERDICT_END}) is_my_{_VERDICT_END}
      confidence\b certainty\b happy_to_help have_a_(?:nice|great|good)\b best_regards good_luck
      if_you_(?:need|have|would_like|want)\b any_(?:other_)?questions
      i_can_(?:go|expand|elaborate|explain)\b.{{0,40}}(?:detail|more|further) ich_hoffe\b
      meld(?:e_dich|en_sie_sich)\b j['’]espère\b
      espero\b spero\b надеюсь\b
      (?:viele|beste|freundliche)_grüße$ bei_(?:rück)?fragen\b danke$
      bitte_sagen_sie_mir,_(?:wenn|falls)\b
      n['’]hésitez_pas\b merci$ cordialement$ bonne_journée$
      no_dudes_en\b gracias$ saludos$ fammi_sapere\b resto_a_disposizione\b
      grazie$ buona_giornata$ (?:cordiali_)?saluti$
      qualquer_dúvida\b obrigad[oa]$ обращайтесь\b если_(?:нужно|хотите),?_могу\b спасибо$
      с_уважением$
      希望.{{0,12}}(?:帮助|有用|帮到) 谢谢$
      如果?(?:有|需).{{0,14}}(?:联系我|告诉我|告知|说明|解释|补充)$
      以上(?:です|でした|就是.{{1,12}})?$ ご(?:不明|質問).{{0,12}}(?:ください|下さい)$
      お役に立て.{{0,8}}$ ありがとうございま(?:す|した)$ 추가_설명.{{0,20}}$
      도움이_되.{{0,12}}$ 감사합니다$›"""

# -- what speaks of the verdict itself -------------------------------------------------------------

_OTHER_SCORE = (
    r"(?:a_)?(?:\d|one|two|three|four|five|higher|lower|less|tie|reversed|swapped|argued|fair)"
)
# What goes before it no longer holds.
RETRACTION = rf"""
    «
      wait(?=[,.!…—]|_no\b|_that\b) hold_on hm+ oops nope sorry(?=,) my_apologies apologies(?=,)
      correction(?=[:,!]) in_hindsight on_(?:reflection|second|balance|reread\w+)
      (?:second|further)_thoughts? i_meant? my_(?:mistake|bad|error) mistakenly
      mis(?:read|judged?|labell?ed|took)_(?:the|this|it|them|these)
      mix(?:ed)?_(?:them_|these_|it_|the_two_)?up confused_(?:the_two|them)
      disregard_(?:that|this|the|my) ignore_(?:this|that|the_above|my|it) chang(?:e|ed|ing)_my
      kidding joking by_(?:accident|mistake|error) in_error
      (?:names|labels|numbers|responses|answers|scores|two|order)_(?:are_|were_|got_)?(?:swapped|switched|reversed|flipped|inverted|mixed)
      (?:^|this_|it_|that_|score_|verdict_|rating_|winner_)(?:should|must|ought_to)_(?:be|have_been)_{_OTHER_SCORE}
      either_way toss-?up
      re-?(?:consider(?:ed|ing)?|think(?:ing)?|evaluat\w+|assess\w*|grad(?:ed?|ing)|scor(?:ed?|ing))
      revis(?:e|ed|ing)_(?:my|the|this|it|to|from|down|up)
      i_(?:was|am|stand)_(?:wrong|mistaken|corrected|confused)
      (?:retract|withdr[ae]w|revoke)_(?:that|this|my|the)
      (?:scratch|strike|cancel|undo)_(?:that|it|this) looking_(?:again|closer|back) never_?mind
      (?:swap|switch|flip|invert|revers)(?:e|p?ed)?_(?:the_two|them|these|those|that|it|my|places|sides|order)
      (?:got|were|are|was)_(?:switched|flipped|inverted|reversed|swapped) other_way_a?round
      vice_versa wrong_(?:way|one|number|side|label) not_really overrid\w+
      (?:this|that|it)_(?:is|was)_(?:only_|just_)?an?_(?:example|sample|placeholder|draft|test|joke)
      (?:that|this)(?:_is|['’]s|_was)_(?:wrong|incorrect|false|a_mistake)»
    | «
      verwechsel\w* vertausch\w* umgekehrt andersherum korrektur(?=:) quatsch geirrt»
    | «
      je_me_(?:suis_)?tromp\w+ l['’]inverse pardon mi_equivo\w+ me_equivo\w+ al_revés perdón
      corrección(?=:) mi_sono_(?:sbagliat|confus)\w+ al_contrario scusa\w* me_engan\w+
      ao_contrário desculp\w+ vergist?_(?:me|mij) andersom omgekeerd pomył\w+ odwrotnie»
    | ‹
      наоборот перепут ошибся ошиблась исправл 更正 纠正 颠倒 搞错 看错 看反 弄反 写错 抱歉 等等
      收回 反过来 开玩笑 逆で 訂正 間違え 取り消 撤回 すみません 待って 정정 실수 잘못_?읽 취소
      죄송 반대로 반대입 معذرة العكس تصحيح माफ़ उल्टा yanlışlıkla tersi nhầm terbalik›"""
# One word alone, or a comparison with nothing: it may be about the response, or about the verdict.
_ALONE = r"""^(?:or\s)?(?:
    neither|never|either|another|wrong|false|incorrect|invalid|untrue|right|true)$
    | ^(?:more|better)$ | (?<!\w)(?:less|worse|higher|lower)$"""
ABOUT_THE_VERDICT = rf"""
    {_ALONE} | not\s(?:an?\s|really\s)*\d | half\s(?:of\s)?that$ | «
      the_above_(?:is|was|should|must|can|may|score|number|verdict)
      these_(?:numbers|scores|values) (?:random|arbitrary|made-up)_(?:value|score|number|choice)
      too_(?:fast|quickly|soon|early|hastily) actually no_longer deserv\w+
      (?:less|minus|more)_(?:one|two|half) merit(?:s|ed)?_(?:less|more|this|that|it|a)
      guess(?:work)? (?:this|that)_(?:score|number|rating|grade|verdict|mark)_is_off$
      would_have(?!_(?:to|been_(?:stronger|better|clearer|more|complete|perfect|useful|helpful|nice|good)))
      sarcas\w* ironic\w* maybe perhaps final_answer
      (?:should|must|needs?_to|has_to|ought_to|could|might|may|would)(?:n['’]t)?_(?:(?:also|even|well)_)?(?:be|have_been)_{_OTHER_SCORE}
      (?:it|this|that|score|verdict|rating)_(?:should|must|ought|needs)
      too_(?:generous|harsh|lenient|strict|much_credit|kind)
      (?:is|was|seems|looks|feels|sounds|far|way|much|bit|little)_too_(?:high|low|good)
      too_(?:high|low)$ (?:not|less)_(?:\w+_)?(?:certain|sure|confident)_(?:about|of|that|in)
      unsure docked deducted downgrad\w+ upgrad\w+
      (?:lower|raise|reduce|bump|increase|make|call|take)_(?:it|this|that)_(?:to|a|by|down|up|back|\d)
      (?:could|might|may|can)_(?:also_|even_|well_|just_as_well_)?(?:go_either|argue|see_(?:this|it))
      (?:score|rating|grade|verdict|mark)_(?:was|seems|looks|feels|should|needs|must|may|might|could)
      (?:score|rating|grade|verdict|mark)_is(?!_(?:based|due))
      (?:higher|lower)_(?:score|rating|grade|mark)
      (?:half_)?a_(?:point|star|notch|grade)_(?:too|off|less|lower|more|higher)
      (?:one|two)_(?:points?|notch(?:es)?|stars?|grades?)
      (?:than|below|above|under|short_of)_(?:that|this)
      than_(?:i|it_seem\w*|thought|expected|stated|at_first) lean(?:ing|s)?_(?:to|towards?)
      borderline torn
      (?:seems?|appears?|looks?|feels?|sounds?)_(?:(?:a_bit|a_little|too|rather|somewhat|quite)_)?(?:generous|high|low|harsh|kind|lenient|off|much|wrong)
      opposite (?:response|answer|text)_graded graded_the withdrawn void(?:ed)?
      discard(?:ed)?_(?:this|that|it|the_(?:score|above|answer|response)) cancel(?:l?ed)? in_haste
      next_message
      (?:not|never|only)_(?:\w+_){{0,2}}(?:read|checked|verified|loaded)(?:_yet|_in_full)?$
      (?:was|were)_(?:read|hidden|cut_off|not_loaded)$
      to_be_(?:ignored|confirmed|checked|verified|revised) (?:not|to)_be_(?:taken|trusted)
      subject_to later$ until_then follows,
      ^(?:the_)?(?:wrong|different)_(?:response|answer|text|file)
      (?:of|to)_(?:the_wrong|another)_(?:response|answer|text|file|question|item|task)
      remove_(?:a|one|two|half) (?:not|never)_checked confused_with
      (?:first|second)_(?:glance|look) from_before$ forget_it
      (?:number|figure|value|line)s?_(?:above|below) previous_(?:item|task) grader
      than_(?:first|previously)_\w+ fairer»
    | «
      verdien\w* zu_(?:hoch|niedrig|gut|streng|großzügig|milde?) sollte müsste eigentlich doch
      lieber eher schlechter_als mérit\w+ trop(?!_(?:bref|brève|court|long|vague|général)\w*)
      devrait plutôt_l[ae] en_fait en_réalité finalement merec\w+ demasiado debería mejor_dicho
      en_realidad pensándolo merita\w* troppo dovrebbe in_realtà anzi demais deveria na_verdade
      aliás eigenlijk te_(?:hoog|laag) zou_moeten toch właściwie zbyt powin\w+ jednak aslında
      sebenarnya thực_ra»
    | ‹
      заслуж слишком долж на_самом_деле вернее завыс заниж чем_(?:казал|дума) 其实 实际上 事实上
      应该?(?:是|给|为|改) 应得 只值 [太偏过][高低] 不对 相反 改[为成] 実は 実際 べき すぎ 過ぎ
      やはり やっぱり 修正 사실 너무 반대 아니 다시 수정 바꿔 바뀌 في_الواقع असल›"""
