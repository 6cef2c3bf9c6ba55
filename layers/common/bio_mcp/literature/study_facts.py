"""What an abstract states of its study: the design, whether people were studied, how many, and the effects found.

Read by rules. What is not stated, or is stated in words that the rules do not know, is absent; nothing is guessed.
`start` and `end` are offsets in characters into the abstract that is given.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice, pairwise

from bio_mcp.lazy import compiled_later
from bio_mcp.literature.quality import ANIMALS, DESIGNS, HUMANS, VAGUE, best_design
from bio_mcp.literature.quantities import COUNT, count, folded
from bio_mcp.literature.records import Article


@dataclass(frozen=True, slots=True)
class Participants:
    """How many people took part: `n`; in a review also its `studies`. The place is that of `n`, else of `studies`."""

    n: int | None
    studies: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Effect:
    """A measure of effect with its value. `level` is 95 for a 95 % interval; `p` is as printed, "< 0.001" or "0.03".

    `measure` is one of OR, RR, HR, IRR, MD, SMD, difference, AUC, r. `outcome` is what it was measured on, in the
    words of the abstract.
    """

    measure: str
    value: Decimal
    start: int
    end: int
    low: Decimal | None = None
    high: Decimal | None = None
    level: Decimal | None = None
    p: str | None = None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """`design` is a name of `quality.DESIGNS` or `HEADING_DESIGNS`, or "preclinical study"."""

    design: str | None = None
    humans: bool | None = None
    participants: Participants | None = None
    effects: tuple[Effect, ...] = ()


LONGEST = 30_000  # characters of an abstract that are read; PubMed has hardly one that is longer


def study_facts(abstract: str, article: Article) -> StudyFacts:
    """Read what `abstract`, of `article`, states of its study."""
    text = f" {folded(abstract[:LONGEST])}"  # so that every word has something before it
    design = _design(text, article)
    participants = _participants(
        text, review=design in _REVIEWS or (design in _MAYBE_REVIEWS and _SEARCHED.search(text.lower()) is not None)
    )
    humans = _humans(text, article, design, counted=participants is not None and participants.n is not None)
    if humans is False:
        design = design or "preclinical study"
        participants = participants if participants and participants.n is None else None
    return StudyFacts(design, humans, participants, tuple(_effects(text)))


def short(facts: StudyFacts) -> str:
    """One line with the first effect: "RCT, n = 334; HR 0.72, 95 % CI 0.58 to 0.90"."""
    design = "RCT" if facts.design == "randomized controlled trial" else facts.design
    counted = facts.participants
    parts = [design, f"{counted.studies} studies" if counted and counted.studies else None]
    parts.append(f"n = {counted.n}" if counted and counted.n else None)
    lines = [", ".join(each for each in parts if each), *map(printed, facts.effects[:1])]
    return "; ".join(filter(None, lines))


def printed(effect: Effect) -> str:
    """The effect with its interval, or without one its p: "HR 0.72, 95 % CI 0.58 to 0.90"."""
    level = f"{effect.level} % " if effect.level else ""
    interval = f", {level}CI {effect.low} to {effect.high}" if effect.low is not None else ""
    p = f", p {effect.p if effect.p[0] in '<>≤≥' else f'= {effect.p}'}" if effect.p and not interval else ""
    return f"{effect.measure} {effect.value}{interval}{p}"


_REVIEWS = {"systematic review", "meta-analysis", "network meta-analysis"}
_MAYBE_REVIEWS = {None, "narrative review", "preclinical study"}
_SEARCHED = compiled_later(
    r"\b(?:search(?:ed|es|ing)?|databases?)\b[^.]{0,120}\b(?:pubmed|medline|embase|cinahl|cochrane|web of science|"
    r"scopus)\b|"
    r"\b(?:pubmed|medline|embase|cinahl|cochrane|web of science|scopus)\b[^.]{0,120}\bsearch|\bliterature search|"
    r"\bsearch of (?:the )?(?:literature|databases)"
)
_OF_A_STUDY = (
    "(?:study|studies|cohort|trial|analys|design|regist|evaluat|enrol|collect|includ|follow|recruit|review|data|observ|"
    "research|survey|series|comparison|assess|investigat|examin)"
)
_DESIGN_WORDS = [  # name, a word that the pattern has, the pattern; the first that the title or a sentence has
    (name, word, compiled_later(pattern))
    for name, word, pattern in (
        ("network meta-analysis", "network meta", r"network meta-?analys[ei]s"),
        ("meta-analysis", "analys", r"meta-?analys[ei]s"),
        ("systematic review", "review", r"(?:systematic|scoping|rapid)(?: [\w-]+){0,2} review"),
        ("randomized controlled trial", "randomi", r"randomi[sz]ed\b[^.;:]{0,60}\b(?:trial|study|experiment)\b"),
        ("case report", "case", r"\bcase (?:report|series)\b"),
        ("case-control study", "control", r"\bcase[- ]control\b"),
        ("cross-sectional study", "cross", r"\bcross-sectional\b"),
        ("cohort study", "cohort", r"\bcohort (?:study|design|analysis)\b|\bpopulation-based cohort\b"),
        ("retrospective study", "retrospective", r"\bretrospective(?:ly)?\b"),
        ("longitudinal study", "longitudinal", r"\blongitudinal (?:study|cohort|analysis)\b"),
        ("prospective study", "prospective", r"\bprospective(?:ly)?(?=[ ,-]+(?:[\w-]+[ ,]+){0,5}" + _OF_A_STUDY + ")"),
        ("narrative review", "review", r"\b(?:this|current|present|narrative) review\b"),
    )
]
_OWN_STUDY = compiled_later(
    r"\b(?:this|our|we|present|current|conducted|performed|designed|undertaken|carried out|design|methods?)\b[^.;]*$"
    r"|(?:^|[.:;] )(?:an?|the)?[^.;:]{0,50}$|\b(?:is|was) an?(?: [\w-]+,?){0,4} $"
)
_OTHER_STUDY = compiled_later(
    r"\b(?:previous|further|future|recent|published|earlier|needed|included?|including|from an?)\b[^.;]*$"
)


def _design(text: str, article: Article) -> str | None:
    """The design that NLM gave the record, else the one that the title or a sentence of the abstract says it has."""
    given = best_design(article)
    if given and (given[0] > 1 or given[1] in _REVIEWS):
        return given[1]
    possible = [each for each in _DESIGN_WORDS if not given or given[1] in VAGUE or each[0] in _REVIEWS]
    title, low = (article.title or "").lower(), text.lower()
    named = (name for name, word, pattern in possible if word in title and pattern.search(title))
    said = (name for name, word, pattern in possible if word in low and any(_own(low, pattern)))
    return next(named, None) or next(said, given[1] if given else None)


def _own(low: str, pattern: re.Pattern[str]) -> Iterator[bool]:
    for hit in pattern.finditer(low):
        before = low[max(0, hit.start() - 160) : hit.start()]
        yield bool(_OWN_STUDY.search(before)) and not _OTHER_STUDY.search(before)


_ANIMAL = compiled_later(
    r"[ (-](?:mice|mouse|rats?|murine|rabbits?|guinea-pigs?|guinea pigs?|pigs?|piglets?|swine|porcine|bovine|"
    r"zebrafish|dogs?|canine|"
    r"cats?|kittens?|sheep|lambs?|monkeys?|macaques?|baboons?|primates|chickens?|chicks?|hens|broilers?|birds?|cattle|"
    r"cows?|calf|calves|flounders?|larvae|drosophila|elegans|goats?|horses?|hamsters?|frogs?|ferrets?|voles?|"
    r"ewes?|mares?|pups?|livestock|poultry|animals?|embryos|insects?|fish species|flatfish|fishes|teleosts?|salmon|"
    r"trout|carps?|shrimps?|"
    r"mosquito(?:es)?|ticks|bees?|beetles?|aphids?|flies|bats|snakes?|lizards?|turtles?|ovariectomized|veterinary|"
    r"feline|equine|ovine|avian|rodents?)\b"
)
_HUMAN = compiled_later(
    r"[ (-](?:patient|participant|subjects|individuals|adult|child|infant|neonate|newborn|adolescent|student|volunteer|"
    r"respondent|people|person|worker|nurse|physician|clinician|caregiver|inpatient|outpatient|athlete|player|"
    r"smoker|survivor|veteran|teenager|pregnant|elderly|(?<!-)(?:wo)?m[ae]n\b|boys?\b|girls?\b|lady\b|youths?\b|"
    r"year-olds?\b|years of age\b|surveyed\b|interview|parents\b|mothers?\b|famil(?:y|ies) members|residents\b|"
    r"households?\b|"
    r"professionals\b|trainees\b|drinkers\b|drivers\b|employees\b|populations? |self-report|questionnaire|race\b|"
    r"socio-?economic|(?:cancer|confirmed|severe|reported|incident|covid-19|new|all) cases\b|cases (?:aged|"
    r"and controls)\b|"
    r"gender\b|surgeons?\b|mortality rate|survey\b|epidemiolog|surveillance|inequalit|countries\b|hospitali[sz])"
)
_ACRONYM = compiled_later(r"\b[A-Z]{2,5}\b")  # "CAT", "FISH"
_VETERINARY = compiled_later(r"\b(?:canine|feline|equine|veterinary|dogs?|cats?|horses?)\b")
_OF_PEOPLE = {"case report", "cohort study", "case-control study", "cross-sectional study", *_REVIEWS} | {
    name for points, name in DESIGNS.values() if "trial" in name and "veterinary" not in name
}
_NEITHER = compiled_later(
    r"\bin[ -]?vitro\b|\bcell lines?\b|\bxenograft|\bin[ -]silico\b|\bnumerical(?:ly)?\b|\bfinite element|"
    r"\bcomputer simulat|"
    r"\bsynthesi[sz]ed\b|\bplants?\b|\bstrains?\b"
)
_TOOK_PART = compiled_later(
    r"[ (]participants|[ (]respondents|[ (]volunteers|[ (]interviewe|[ -]years? of age\b|[ -]years?[ -]old\b|"
    r"\b\d\d?-\d\d years\b|\baged \d|\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|"
    r"\w+ty) "
    r"(?:[\w-]+ ){0,3}(?:patients|subjects|adults|children|infants|women|men|individuals|diabetics)\b|"
    r"\ban? (?:[\w-]+ ){0,3}(?:patient|woman|man|boy|girl|child|infant) (?:with|who|in whom|suffering|presenting|"
    r"treated)\b|"
    r"\bin (?:\w+ )?patients?\b[^.]{0,80}\b(?:was|were) (?:studied|found|measured|compared|observed)\b"
)
_CARE = compiled_later(
    r"\b(?:treatments?|therap(?:y|ies|eutic)|clinical|diseases?|disorders?|surgery|surgical|pain|depress\w+|mental|"
    r"health|"
    r"injur(?:y|ies)|outcomes?|mortality|cancers?|tuberculosis|infections?)\b"
)
_CLINICAL = compiled_later(
    r"\b(?:clinical|surg(?:ery|ical)|(?:post|pre|intra)?-?operati(?:ve|ons?)|hospitals?|prognos\w+|diagnos\w+|"
    r"symptoms?|radiotherapy|"
    r"chemotherapy|prevalence|treated|follow-up|recurrences?|complications?|male|female|males|females|pregnan\w+|"
    r"consultation)\b"
)
_OFTEN, _VERY_OFTEN = 2, 4  # one mention may be of what the study is for


def _humans(text: str, article: Article, design: str | None, *, counted: bool) -> bool | None:
    """Whether people were studied: by the headings of MeSH where there are any, else by what the text speaks of."""
    headings = {each.ui for each in article.mesh}
    if HUMANS in headings or ANIMALS in headings:
        return HUMANS in headings
    low = f" {article.title or ''} {text}".lower()
    spelled = _ACRONYM.sub("", f" {article.title or ''} {text}").lower()
    animals, people = len(_ANIMAL.findall(spelled)), len(_HUMAN.findall(low))
    if len(_VETERINARY.findall(spelled)) > _OFTEN:
        return False
    if counted:
        return True if animals <= _OFTEN * people else None
    return _humans_of_text(low, animals, people, design)


def _humans_of_text(low: str, animals: int, people: int, design: str | None) -> bool | None:
    """The same by how often the text speaks of animals and of people."""
    if animals > people and (animals >= _OFTEN or not people):
        return False
    if animals > (people if design in _OF_PEOPLE else people // 4):
        return None
    if people < _VERY_OFTEN and (design == "narrative review" or _NEITHER.search(low)):
        return None
    if people >= _OFTEN or (animals == 0 and len(_CLINICAL.findall(low)) >= _VERY_OFTEN - people):
        return True
    of_people = design in _OF_PEOPLE and (people or design == "case report" or _CARE.search(low))
    return True if of_people or (people and _TOOK_PART.search(low)) or _COUNTED.search(low) else None


_PEOPLE = "|".join(
    r"""patients participants subjects individuals adults children infants neonates newborns adolescents girls boys
    women men males females persons people volunteers students respondents residents cases controls workers employees
    nurses physicians doctors clinicians professionals practitioners educators teachers veterans players athletes
    runners survivors donors mothers parents caregivers carers pairs dyads twins smokers users pregnancies inpatients
    outpatients recipients youths? teenagers immigrants dwellers members soldiers farmers consumers couples trainees
    surgeons dentists pharmacists specialists drivers officers hcs pcps latinas gravidas
    candidates(?=\s(?:for|from|who)) decedents enrollees beneficiaries applicants seniors toddlers preschoolers
    schoolchildren psychiatrists physiotherapists midwives therapists radiologists interviewees informants
    stakeholders citizens inhabitants prisoners inmates refugees migrants probands relatives siblings spouses
    swimmers cyclists dancers pilots firefighters births pupils
    providers partners musicians coaches comparators peers parturients primiparas? nulliparas? diabetics asthmatics
    drinkers gamers
    offenders victims singletons clients learners interns fellows registrars passengers gymnasts recruits cadets
    servicemen guardians grandparents fathers siblings carriers abusers visitors travell?ers examinees attendees
    nonsmokers non-smokers preschool-children centenarians sportsmen astronauts personnel operators responders
    referees paramedics dieticians dietitians technologists
    adolescents clinicians freshmen hospitalizations patrons managers leaders bloggers adoptees hcws hcps gps msm
    plwh plhiv pwid
    (?:\d+-?(?:\sto\s|-))?\d+-years?-olds
    \w{2,}ists \w{3,}icians \w{2,}[ai]cans \w{2,}asians \w+graduates (?:service|police|states|fisher|fire)(?:wo)?men
    danes swedes finns
    emiratis koreans japanese chinese staff retirees pensioners bystanders laypersons laypeople lesbians
    transwomen""".split()
)
_NOT_BETWEEN = "|".join(  # a number and what it counts
    """of in for from with to at by the per who whom were was are is had has did or than versus vs on as into after
    before during years? months? weeks? days? hours? min minutes mg g kg ml mm cm h times? studies trials rcts articles
    papers reports hospitals? cent(?:er|re)s? sites? countries clinics? schools eyes? samples? groups? cohorts? points?
    items? doses? sessions? million billion that which such these those""".split()
)
_WORDS = (
    rf"(?:[ ](?!(?:{_NOT_BETWEEN})\b(?!-|[ ](?:\w+[ ])?students)|\d+\b(?!-))"
    rf"[\w'’+/()-]{{1,40}}(?:(?:(?<=-)|(?<=\dth)),)?){{0,8}}?"
)
_N = rf"(?P<n>{COUNT})"
_COUNTED = compiled_later(
    rf"(?x) (?:[ (\[]|(?<=[a-z])\.) {_N} (?:[ ]\([^()%]{{1,30}}\))? {_WORDS} (?:[ ]\([^()%]{{1,60}}\))? "
    rf"[ ](?:{_PEOPLE})\b(?![-'’/])"
)
_COUNTED_STUDIES = compiled_later(
    rf"""(?x) [ (\[] {_N} {_WORDS.replace("(?:of|", "(?:and|of|").replace("cohorts?|", "")}
    [ ](?:non-?)?(?:studies|trials|rcts|articles|papers|publications|reports|reviews)\b(?![-'’/])"""
)
_N_EQUALS = compiled_later(
    r"(?:[\[(](?:[\w -]{1,20}[;,:] )?|(?<=studies,) | (?:of|in|from|with|on|"
    r"among) )n ?= ?(?P<n>\d{1,3}(?:[, ]\d{3})+|\d{1,9})(?![\d.])"
)
_ELIGIBLE = compiled_later(r"\b(?:eligible|evaluable|consecutive)\b")
_AND_OTHERS = compiled_later(  # "30 patients and 28 controls"
    rf"""(?x) (?P<between>(?:[^.;:()]|\([^()]{{0,120}}\)){{0,200}}?),?[ ]
    (?:and|plus|as[ ]well[ ]as|(?:compared|matched)[ ](?:them[ ])?(?:to|with))[ ]
    (?:one[ ](?:with|of|in)[ ]|another[ ]|an?[ ](?:\w+[ ])?(?:group|cohort|sample|series)[ ]of[ ])? {_N} (?:{_WORDS}
    [ ](?:{_PEOPLE})|[ ](?:with(?:out)?|affected|diagnosed|treated|suffering|undergoing))\b"""
)
_ACT = (
    r"(?:enrol\w+|recruit\w*|includ(?:ed|ing)|randomi[sz]ed|randomly|allocated|assigned|analy[sz](?:ed|ing)|studied|"
    r"evaluated|assessed|identified|examined|participat\w+|took part|surveyed|interviewed|selected|reviewed|imaged|"
    r"followed|admitted|investigated|scanned|monitored|operated|fulfilled|explor(?:es|ed)|compares|investigates|"
    r"examines|includes)"
)
_KIND = rf"(?:[ ](?!(?:{_NOT_BETWEEN}|{_PEOPLE}|and)\b(?!-)|\d+\b)[\w-]{{1,40}}){{1,4}}"
_BOTH = compiled_later(  # "160 frontline and 146 other nurses"
    rf"""(?x) [ (\[] {_N} {_KIND} (?:,[ ](?P<other>{COUNT}) {_KIND})? ,?[ ]and[ ]
    (?P<more>{COUNT}) {_WORDS} [ ](?:{_PEOPLE})\b"""
)
_MORE_STUDIES = compiled_later(  # "7 trials with 1,773 patients and 3 other studies"
    rf"""(?x) (?:[ ]\([^()]{{0,80}}\))?
    (?:[ ](?:with|involving|including|enrolling)[ ](?:a[ ]total[ ]of[ ])?{COUNT} {_WORDS} [ ](?:{_PEOPLE}))?
    (?:,|,?[ ]and) {_COUNTED_STUDIES.pattern.removeprefix("(?x)")}"""
)
_THEN_STUDIES = compiled_later(  # "1298 papers were inspected, and 11 were eligible"
    rf"""(?x) (?:[ ]\([^()]{{0,60}}\))?[ ](?:were|was)[ ](?:\w+[ ]){{0,2}}?(?:inspected|screened|identified|retrieved|
    found|reviewed|assessed)
    [^.;\d]{{0,80}}?(?:and|,|of[ ]which|of[ ]these,?|from[ ]which)[ ]{_N}[ ](?:were|was|met)[ ](?:\w+[ ])?(?:eligible|
    included|selected|the|all|inclusion)"""
)
_OF_ALL_STUDIES = compiled_later(  # "of the total 1890 articles, 27 were included"
    rf"(?x) [^.;,\d]{{0,60}},[ ](?:only[ ])?{_N}(?:[ ][\w-]+){{0,12}}?[ ](?:were|was)[ ](?:\w+[ ])?(?:included|"
    rf"eligible|selected)\b"
)
_BOTH_STUDIES = compiled_later(  # "36 cross-sectional and 9 longitudinal studies"
    rf"(?x) [ (]{_N}(?:[ ](?!and\b)[\w-]+){{1,3}}[ ]and[ ](?P<more>{COUNT})(?:[ ][\w-]+){{1,3}}[ ](?:studies|trials|"
    rf"articles|papers)\b"
)
_TWO_GROUPS = compiled_later(
    rf"(?x) (?:[^.;:\d]|(?:19|20)\d\d){{0,140}}\b(?:and[ ](?!(?:19|20)\d\d\b)(?:{COUNT})[ ](?:to|who|were|in|received)|"
    rf"matched[ ](?:to|with)[ ]\d)\b"
)
_AS_WELL = compiled_later(  # a third group, which is not added
    rf"(?x) [^.;:()]{{0,60}}?,?[ ](?:as[ ]well[ ]as|versus|vs\.?)[ ](?:{COUNT}) {_WORDS} [ ](?:{_PEOPLE})\b"
)
_AND_BEFORE = compiled_later(rf"\b(?:{_PEOPLE})(?: \([^()]*\))?,? and$")
_SOME_OF_THEM = compiled_later(  # "among the 520 nurses, 76 nurses (15%) were selected"
    rf"""(?x) [^.;\d]{{0,100}},[ ]{_N} (?:{_WORDS}[ ](?:{_PEOPLE}))? (?:[ ]\([^()]{{1,20}}\))?
    [ ](?:were|was)[ ](?:\w+[ ])?(?:selected|included|enroll?ed|recruited|randomi[sz]ed)\b (?![ ](?:in|to|
    into)[ ]the[ ](?:\w+[ ]){{1,4}}group)"""
)
_THEN_WITH = compiled_later(
    rf"(?x) [ ](?:with|in|from|of)[ ][^.;:()\d]{{1,60}},[ ](?:and[ ])?(?:{COUNT})[ ](?:with|without)\b"
)
_LATER = compiled_later(
    r" (?!who)(?:[\w-]+ ){0,2}(?:completed|analy[sz]ed|evaluable|remained|followed|included|died|had)\b"
)
_THEN_INCLUDED = compiled_later(  # "96 patients were screened and 60 were enrolled"
    rf"""(?x) (?:,|;|\b(?:and|whom|which|these|them),?)[ ]{_N}[ ](?:\([^()]{{1,20}}\)[ ])?
    (?:(?:were|was)[ ](?:\w+[ ]){{0,2}}?(?:enroll?ed|recruited|included|randomi[sz]ed|randomly)|participated|
    responded|met[ ](?:the[ ]|all[ ])?inclusion)\b
    (?![ ](?:in|to|into)[ ]the[ ](?:\w+[ ]){{1,4}}group)"""
)
_RESPONSES = compiled_later(  # "received 913 (67%) responses"
    rf"""(?x) \b(?:received|obtained|collected|returned)[ ](?:a[ ]total[ ]of[ ])?{_N}[ ]
    (?:\([^()]{{1,12}}\)[ ])?(?:(?:complete|valid|usable|eligible|survey|online|full)d?[ ]){{0,2}}(?:responses|
    questionnaires|surveys)\b
    |[ ](?P<m>{COUNT})[ ](?:(?:complete|valid|usable|eligible|survey|online|full)d?[ ]){{0,2}}(?:responses|
    questionnaires|surveys)[ ]were[ ](?:obtained|received|collected|returned|completed)"""
)
_INCLUDED_OF = compiled_later(
    r"[^.;,]{0,50} (?:were|was) (?:included|enroll?ed|identified|analy[sz]ed|recruited|eligible)\b"
)
_TOTAL_OF = compiled_later(r"^$|\b(?:total of|total,?|overall,?)$")
_YEAR = compiled_later(r"(?:19|20)\d\d")
_ENROLLED = compiled_later(r"\b(?:enroll?|recruit|includ|randomi[sz])\w*(?: the| all)?$")
_RATE = compiled_later(
    rf"(?x) (?<!objective[ ])(?<!overall[ ])\b(?:survey[ ]response|response|participation|completion)[ ]rates? "
    rf"[^.;\d]{{0,30}} [\d.]+[ ]?%[ ]\({_N} (?:/|[ ](?:out[ ])?of[ ])(?:{COUNT})"
)
_SEXES = compiled_later(  # "subjects (31 female, 7 male)"
    rf"""(?x) [ ][(\[]{_N}[ ](?P<sex>(?:fe)?males?|(?:wo)?men|girls|boys)(?:,|;|/|[ ]and)?[ ](?:and[ ])?
    (?P<other>{COUNT})[ ](?!(?P=sex))(?:(?:fe)?males?|(?:wo)?men|girls|boys)\b"""
)
_BOTH_SEXES = compiled_later(  # "248 females (41.5%) and 349 males (58.5%)"
    rf"""(?x) [ (]{_N}[ ](?:\w+[ ])?(?:(?:fe)?males?|women|men|girls|
    boys)[ ]?\((?P<share>\d\d(?:\.\d+)?)[ ]?%\),?[ ]and[ ]
    (?P<other>{COUNT})[ ](?:\w+[ ])?(?:(?:fe)?males?|women|men|girls|boys)[ ]?\((?P<rest>\d\d(?:\.\d+)?)[ ]?%\)"""
)
_HOW_MANY_OF = compiled_later(  # "395 of 1241 (32%) patients", "99/295 patients"
    rf"""(?x) [ (\[](?P<part>{COUNT})(?:/|[ ](?:out[ ])?of[ ](?:the[ ])?){_N}[ ]?
    (?:\([\d.]+[ ]?%\))? {_WORDS}[ ](?:{_PEOPLE})\b"""
)
_NUMBER_PHRASES = (
    (_RESPONSES, 4, "s "),
    (_RATE, 4, " rate"),
    (_SEXES, 3, "ale"),
    (_BOTH_SEXES, 3, "%"),
    (_HOW_MANY_OF, 1, " "),
)
_INCLUDED = compiled_later(rf"\b{_ACT}\b")  # "the 93 reviewed patients"
_BRACKETS = compiled_later(r"\([^()]*\)")
_BARE = compiled_later(rf"(?x) (?:,|and)[ ]{_N}(?:[ ]-)?[ ](?:with|without)\b")
_IN_A_LIST = compiled_later(  # "30 patients with X; 28 patients with Y"
    rf"(?x) (?P<between>[^.:()]{{0,120}}?) [;,][ ](?:and[ ])? (?:{COUNT}) {_WORDS} [ ](?:{_PEOPLE})\b"
)
_APART = compiled_later(r"\b(?:was|were|had|underwent|received|who|completed|died|did|have)\b")
_DID = compiled_later(r"\b(?:was|were|had|completed|died|did)\b")
_OUT_OF = compiled_later(r"(?:^|[.,:;] )(?:of|among|from|out of)(?: the| all| these)?$")
_PART_OF_THEM = compiled_later(r"\b(?:including|of (?:whom|which|these))\b")
_WHOLE_SAMPLE = compiled_later(r"\bcontrols?\b|\bhealthy\b|\bhcs\b|\b(?:women|men|girls|boys|females)$")
_PHRASE = r"(?:[^.;(]|\.\d|\([^()]{0,140}\)){0,140}?"
_STUDIES = r"(?:studies|trials|rcts|reports|articles|papers|cohorts)"

# In lower case, how the sentence goes before a number and after what it counts.
_NEVER_BEFORE = compiled_later(
    r"\b(?:more|less|fewer|greater|higher|lower) than$|\b(?:over|about|approximately|nearly|almost|up to|at least|only|"
    r"around|per|every|each|stage|phase|grade|groups?|study|studies|table|day|week|another|other|additional|remaining|"
    r"first|last|least|most|treat|harm|aged?|an?|sub(?:set|sample|group)s? of|groups of)$|"
    r"\d(?: [\w-]+){0,3}(?: \([^)]*\))?(?<!records)(?<!articles)(?<!papers)(?<!studies)(?<!trials) and$|"
    r"\b(?:planned|required|estimated|calculated|target(?:ed recruitment)?|minimum)\b.{0,30}$|"
    r"\d to$|\d and$|\bas well as$|\b(?:matched|compared) (?:them )?(?:to|with)$|\b(?:median|mean|"
    r"average)(?: [\w-]+){0,4}:?$|\binterim\b.{0,20}$|\b(?:control|experimental|intervention|study|comparison|"
    r"test) group (?:of|included|comprised)$|\bpublished\b(?:(?! and )[^.;]){0,40}$|\bfirst (?:data ?set|cohort|sample|"
    r"group)\b.{0,20}$|\bwill\b[^.;]{0,60}$|\beach comprising$|\b(?:complementary|sensitivity|"
    r"sub-?group) analys[ei]s\b.{0,60}$|\b(?:validation|independent|external|test(?:ing)?|replication) (?:cohort|"
    r"set|sample|data ?set)s? of$|\bgroups? (?:included|comprised|consisted of|contained|had)$|\balso\b[^.;]{0,30}$|"
    r"[~≈≥≤<>×x/%°±.]$|(?<! )-$|(?<!\bn )(?<!\bn)=$|"
    r"\b(?:will|shall|(?<!used )to|would) (?:be )?(?:enrol|recruit|includ|randomi)\w*.{0,30}$"
)
_NEVER_AFTER = compiled_later(
    r"[ ,]*[\[(](?:corresponding to )?\d+(?:\.\d+)? ?%(?=[)\];,]| of\b)(?! (?:responses?|response rate|follow-up|"
    r"participation|retention|completion|(?:fe)?male|(?:wo)?men|girls|boys)\b)|[ -](?:years?|days|months)\b|"
    r" (?:will|would) be\b|[^.;]{0,140} will be (?:random|enroll?|recruit|includ|allocat|assign)|"
    r" of (?:[\w-]+ )?(?:samples|specimens|tissues|eyes|cells)\b| (?:as|for) (?:the|a) (?:discovery|training|"
    r"validation|test|derivation|development)\b|(?: \w+){0,3} (?:in|into|to) (?:\w+ )?(?:study|cohort|part|phase|"
    r"trial) (?:[a-d]|\d|one|two|i{1,3})\b|"
    r"(?: \w+){0,3} (?:was|were|is|are) "
    r"(?:required|needed|calculated|necessary)\b| worldwide| per\b| (?:die|suffer)\b"
)
_NOT_YET_READ = compiled_later(
    r"duplicate|potential|unique|\bfull[- ]text|"
    r"\b(?:reviewers|researchers|authors|investigators|independently|databases)\b"
)
Cues = tuple[tuple[int, re.Pattern[str]], ...]


def _cues(*rows: tuple[int, str]) -> Cues:
    return tuple((points, compiled_later(pattern)) for points, pattern in rows)


_BEFORE = _cues(
    (4, r"\btotal(?: (?:sample|number|cohort))?(?: of| included|,)?(?: \w+)?$|\bin (?:total|all),?$|\btotall?ing:?$"),
    (2, r"(?<!\()\bn ?=$|: ?$"),
    (1, r"^$|,$"),
    (1, r"\b(?:in|on|among|with|for)(?: the| all)?$"),
    (-1, r"^in$"),
    (3, r"\d ?%\) (?:out )?of(?: the| all)?$"),
    (3, r"\b(?:most|majority|half|\d ?%) of(?: the| all| these)?$|"
        r"\bthis (?:[\w-]+ ){0,2}(?:report|study|paper|article) (?:describes|reports|presents)$"),
    (2, r"(?:\d|\b(?:ten|eleven|twelve|thirteen|fourteen|fifteen|\w+teen|\w+ty(?:-\w+)?)) (?:out )?of(?: the| all)?$"),
    (4, r"\ball(?: of the| the)?$"),
    (3, r"\b(?:design|method|approach|paradigm),$"),
    (3, r"\bfrom (?:the|this|our) (?:[\w-]+ ){0,3}(?:study|cohort|database|registry|trial),$"),
    (2, r"\b(?:was|were) (?:performed|adopted|used|applied|tested|implemented|administered|"
        r"conducted|carried out|measured|evaluated|"
        r"assessed|compared|studied|examined|investigated|analy[sz]ed|validated|collected|obtained|recorded|"
        r"given) (?:in|on|from|among)(?: the| all)?$"),
    (3, r"\b(?:corresponding|belonging|relating|prescribed|administered|given) to$"),
    (2, r"\b(?:overall|finally),?(?: we \w+)?$"),
    (6, r"\b(?:we|study|trial|analys[ei]s|sample) (?:includ|enroll?|recruit|randomi[sz])ed$"),
    (3, r"(?:^|results |: )(?:of|among|from|out of)(?: the| all| these)?$|\bthere were$"),
    (3, rf"\b{_ACT}(?: data (?:of|from|on))?(?: the| all| a| an)?$|\b(?:from|by)(?: the| all| a)?$"),
    (3, r"\b(?:patients|participants|subjects|population|sample)\b[\w /&,]{0,20}:$"),
    (3, r"\b(?:involv\w+|compris\w+|(?:consist\w+|composed|made up|formed) of|consisting|contain\w+|yielded|"
        r"(?:cohort|group|series) of|sample (?:size )?(?:of|was)|"
        r"data (?:of|from|on|for)|(?:records?|sera|scans|images|charts|review|analysis|surveys?|samples|eyes) of|"
        r"(?:study|experiment|trial|survey|cohort|sample) (?:of|in|on|with|among)|"
        r"(?:study|trial|survey|test\w*|analys[ei]s|measurements?|examinations?|data|samples?)\b.{0,45} "
        r"(?:performed|conducted|undertaken|carried out|collected|obtained) (?:in|on|among|with|from|of)|"
        r"focused on|data ?sets? of|(?:subjects|participants|patients|respondents) (?:were|included)|"
        r"population was|interviews? with|we (?:studied|compared|present|"
        r"report|describe))(?: the| all| a| an)?(?: \w+)?$"),
    (-4, rf"(?x) (?:^|[ ])(?:{COUNT}) {_WORDS} [ ](?:{_PEOPLE})\b [^.;]{{0,40}} ,$"),
    (-7, r"\b(?:invited|approached|contacted|screened|mailed)\b[^.;]{0,20}$"),
    (-7, r"\b(?:sample|study|experiment|cohort|wave|phase|stage) (?:\d|one|two|three|[abi]{1,3}\b)[^.;]{0,30}$"),
    (-3, r"\([^()]*[a-z][^()]*,$|\b(?:pre|post)-?\w* period,$"),
    (-5, r"\b(?:in|on|of|to) (?:the )?(?:\w+ ){0,4}(?:group|arm)\b(?! of)[^.;]{0,20}$|\b(?:group|arm) \w+ .{0,25}$"),
)  # fmt: skip
_AFTER = _cues(
    (3, rf"{_PHRASE}\b(?:{_ACT}|completed|underwent|treated|tested|divided|split|grouped|(?:classified|assigned) into|"
        r"categori[sz]ed|stratified|were available|met|performed|were diagnosed (?:during|between|in|from))\b"),
    (3, r"(?: [\w-]+){0,6} (?:were|was) (?:\w+ly )?(?:enroll?ed|"
        r"recruited|randomi[sz]ed|included)\b(?! (?:in|to|into) the)"),
    (-9, r"(?: \w+){0,2} (?:in|of|from|to) group \w\b"),
    (3, r",? (?:consisting|comprising|composed) of\b"),
    (-7, r"[^.;]{0,60} in an? pilot\b|[^.;]{0,60}\bhave been (?:reported|described)\b"),
    (-9, r"[^.;,]{0,60}\b(?:both|each)\b[^.;]{0,40}\bgroups?\b"),
    (-9, r" (?:was|were) (?:invited|approached|contacted|e-?mailed|sent)\b| to whom\b"),
    (-9, r"[^.;]{0,25} (?:included|enroll?ed|allocated|assigned) (?:in|to|into) (?:the )?"
        r"(?!either|one|two|three|four|an? )(?:[\w+/-]+ ){1,4}group\b"),
    (-7, r" (?:per|in) each|,? each\b| (?:in|of|from) (?:the|either|both|a) (?:[\w+/-]+ ){1,5}group\b"),
    (-3, r" had\b"),
    (-5, r" completed (?:all|both|\d)"),
    (-7, r"(?:(?!stud|trial)[^.;,a]|a(?!nd )){0,40}?\b(?:(?:tested|were) positive|"
        r"(?:that|who) (?:suffered|did)|died|developed|"
         r"experienced|withdrew|dropped|discontinued|lost|excluded|refused|declined|screened|were newly diagnosed|"
         r"required|assessed for eligibility|"
         r"invited|(?<!self-)reported|showed|achieved|responded|presented)\b"),
)  # fmt: skip
_BEFORE_STUDIES = _cues(
    (7, rf"(?x) (?:^|[ ])(?:{COUNT}) {_WORDS} [ ](?:{_PEOPLE})[ ](?:from|in|across)$"),
    (3, r"\b(?:among the|to identify|based on)$"),
    (-7, r"\bin group \w+,?$"),
    (3, r"\b(?:included|covers|identified|analy[sz]ed|comprised|involving|including|total of|final sample (?:was|of)|"
        r"yielded|from|found|pooled|of|eligible|retrieved|were|was)(?: a total of)?(?: the| only)?$"),
    (-6, r"\([^()]*\w[^()]*$|\b(?:reviewing|screening|assessing|excluding|removing)(?: the)?$"),
)  # fmt: skip
_AFTER_STUDIES = _cues(
    (4, rf"{_PHRASE}\b(?:included|eligible|met|fulfilled|satisfied|fit(?:ting)?|identified|"
        r"analy[sz]ed|selected|used|reviewed|"
        r"extracted)\b"),
    (3, r",? ?\(?(?:with|involving|including|comprising|containing|enrolling|studying|covering|totall?ing:?)? ?"
        r"(?:a total of )?\d[\d,]* (?!studies|trials|rcts|articles|papers|were|met)"),
    (-6, r"[^.;,]{0,40}?, of (?:these|which|them)\b"),
    (-6, rf"(?x: [^.;,]{{0,40}}? \bidentified,?[ ](?:only[ ])? (?:{COUNT}))"),
    (-6, r"[^.;,]{0,40}?\b(?:screened|found|retrieved|excluded|searched|obtained|assessed|reported|showed|compared|"
         r"contributed|evaluated|focused|provided|described|did not|had)\b"),
)  # fmt: skip
_OF_STUDIES = compiled_later(
    rf"\b{_STUDIES}\b[^.;]{{0,60}}?[ (](?:with|involving|including|comprising|enrolling|studying|totall?ing|of|"
    rf"containing|had|\()? ?(?:a total of)?$|\b{_STUDIES} ?\($"
)
_JOINS = compiled_later(
    r"(?:[^()]{0,30}\)|,)(?:,| and| or| versus| vs\.?)"
    r"(?!.{0,80}\b(?:focus|interviews|sites|schools|clinics)\b)[^.:;()]{0,90}"
)  # between two groups
_GROUP = compiled_later(
    rf"\b(?:{_PEOPLE})"
    r"(?: (?:with|without|of|in|from|having|receiving|undergoing|diagnosed|using)\b[^.;:()]{0,60})? ?$"
)
_OF_PEOPLE_AFTER = compiled_later(rf"{_WORDS}[ ](?:{_PEOPLE})\b")  # "(n = 2143 girls"
_SAMPLED = compiled_later(rf"\b(?:{_PEOPLE}|study|studies|survey|registry|cohort|sample|data|respondents)\b")
_OF_SAMPLE = compiled_later(
    r"\b(?:study|survey|registry|included|enrolled|recruited|participants|sample|cohort|participated|patients|"
    r"surveyed)\b"
)
_IN = compiled_later(r"\b(?:in|of|among|on|from|with)(?: the| all)?$")
_WE = compiled_later(
    r"\b(?:we|this (?:[\w-]+ ){0,3}(?:study|trial)) (?:\w+ly |have |then )?(?:evaluated|assessed|investigated|"
    r"examined|analy[sz]ed|"
    r"studied|measured|tested|compared|conducted|performed|describe|report|present|determined|reviewed|explored|"
    r"identified)"
)
_IN_STUDY = compiled_later(
    r"\bwe (?:\w+ly )?\w+ed $|(?<!training )(?<!validation )(?<!test )(?<!each )(?<!first )\b(?:study|survey|sample) $|"
    r"\b(?:were|who) (?:included|enroll?ed|recruited|randomi[sz]ed|participated|analy[sz]ed)(?: (?:in|into) (?:this|"
    r"the|our) [\w -]{3,50})? $"
)
_AS_SHARE = compiled_later(  # "26 patients (3.9%)"
    rf"(?x) (?<!of)[ (\[]{_N}(?:[ ](?!were|was|had|are|is|"
    rf"who)[\w-]{{1,25}}){{0,4}}[ ]?[(\[](?!100)\d+(?:\.\d+)?[ ]?%(?=[)\];,]|[ ]of\b)(?![ ](?:responses?|"
    rf"(?:fe)?male|(?:wo)?men|girls|boys))"
)
_MORE_WITH = compiled_later(r"[ )]{1,3},? ?(?:and )?\d+ (?:with|without|who)\b")
_OF_SOME = compiled_later(r" (?:results?: |findings: )?(?:in|among|for) (?!(?:this|the present|our|an?)\b)")
_PART_BEFORE = compiled_later(
    r"\b(?:majority|most|half|others?|remaining|rest|responders?|episodes|samples|cases|"
    r"controls|practices?|clinics?|hospitals?|schools?|eyes|sites|lesions|tumou?rs|specimens|knees|hips|teeth|"
    r"implants|visits|studies)"
    r" $|(?:\d ?%|percent|\d\)) (?:of )?(?:the )?(?:[\w-]+ )?$|\bsub-?group|\bin group\b|\b(?:powered|planned|"
    r"required|target|sample size)\b|\b(?:excluded|excluding|exclusion of|declined|refused|lost|dropped|withdrew|"
    r"died|missing)\b[^()]{0,20}$"
)
_SHARE = compiled_later(
    r" (?:fe)?males?,|,? ?(?:(?:in|per|for) )?each\b|[^.;()]{0,40}\)? will\b|[^()]{0,30}\) (?:of [^.;]{0,60}|"
    r"(?:[\w-]+ ){0,2})\b(?:specimens|samples|isolates|swabs|eyes|images)\b| (?:studies|articles|papers|trials|"
    r"reviews|eyes|samples)\b|[,;] ?\d[\d.]* ?%(?! (?:(?:fe)?male|(?:wo)?men|responses?))"
)
_DESCRIBED = compiled_later(r"[,;] ?(?:mean|median|aged?\b|\d[\d.]* ?% (?:fe)?males?|\d[\d.]* ?% (?:wo)?men)")
_OF_STUDIES_N = compiled_later(
    rf"\b{_STUDIES} $|\b(?:samples|sites|eyes|schools|items|hospitals|sessions|tests|visits) $"
)
_ALONE_AFTER = compiled_later(r"\b(?:or|versus|vs\.?) (?:[\w-]+ ){1,3}$")
_TOTAL = compiled_later(r"\b(?:total|all|overall)\b")
_HEALTHY = compiled_later(
    rf"(?x) (?<!with)[ (\[]{_N} [ ](?:(?:age|sex|gender|and|matched|age-matched|sex-matched|normal|control)[ -])*"
    r"(?:healthy[ ](?:[\w-]+[ ])?(?:controls?|subjects|volunteers|individuals|participants|people|adults|women|men)|"
    r"(?:[\w-]+[ ]){0,3}?(?:controls|peers|comparators)|comparison[ ](?:subjects|participants|peers|group)|hcs)\b"
)
_OPEN = compiled_later(r"[^()]{0,90}\([^()]{0,100}\Z")
_SURE = compiled_later(
    r"\b(?:total|all|overall|finally|final|includ\w+|enroll?\w*|recruit\w*|randomi\w+|randomly|analy[sz]ed|"
    r"participated|completed|"
    r"eligible|retrospectively|prospectively|reviewed|divided|studied|identified|collected)\b"
)
_EQUAL_NUMBER = compiled_later(r"\b(?:equal|same) number of\b[^.;]{0,40}\b(?:controls?|healthy)\b")
_CONTROLS = compiled_later(r"\bcontrols?\b|\bhealthy\b")
_CONTROL_GROUP = compiled_later(
    r"\bcontrol group (?:included|of|comprised|consisted of) (?:(?:an?|the) )?(?=\d|\w+(?:ty|teen)\b)"
)
_ILL = compiled_later(
    r"\b(?:patients?|diagnos|disease|infect|cancer|surg|tumou?r|treated|syndrome|clinical|hospital|surviv|death)"
)
_SEVERAL = compiled_later(
    r"\b(?:verified|validated|tested) (?:internally|externally) (?:in|on|with)\b|"
    r"\band their (?:[\w-]+ ){0,3}controls\b|\banother (?:independent )?(?:cohort|sample|data ?set)\b|"
    r"\bsecond (?:one|study|cohort|sample|experiment)\b|\b(?:study|trial|experiment|sample) (?:2|two|b|ii)\b"
)
_A_SEX = compiled_later(r"\bgroup\b|\b(?:wo)?men\b|\b(?:fe)?males?\b|\bgirls\b|\bboys\b")
_STUDIES_BEFORE = compiled_later(rf"(?x) (?:{COUNT})[ ](?:[\w-]+[ ]){{0,3}}{_STUDIES}[,;:]?[ ][(\[]?(?:n[ ]?=[ ]?)?$")
_NEARBY = 250
_LEAST, _ENOUGH, _FEW, _MANY = 3, 6, 10, 1_000_000
_IN_THEM = 60  # characters after the last number of studies, in which it says of how many people
_BESIDE = compiled_later(
    r"\b(?:and|than|those of|average of|mean of|if|or|versus|vs\.?|to)$"
)  # what is named before it
_MOST = 500  # numbers of a text that are looked at
_SENTENCE_END = compiled_later(r"[.!?](?:[)\]]? +(?=[A-Z0-9(\"])|(?=[A-Z][a-z]))")
_LABEL = compiled_later(r"[A-Z][A-Za-z &/,']{2,45}(?=: |:[A-Z])")
_ASIDE = compiled_later(
    r"background|introduc|importance|rationale|objective|\baims?\b|purpose|conclusion|interpretation|discussion|"
    r"signific|"
    r"summary|context|registration|limitations|relevance"
)
_FINDINGS = compiled_later(r"result|finding")
_SECTION = compiled_later(
    r"method|result|finding|participants|patients|setting|design|measure|main|cases?\b|subjects|sample|population|"
    r"intervention|material"
)
Candidate = tuple[int, int, int, int]  # points, number, start, end


def _participants(text: str, *, review: bool) -> Participants | None:
    sample = _Sample(text)
    found = [*sample.people(review=review), *sample.two_kinds(), *sample.from_phrases(), *sample.named_n(review=review)]
    then = [each for each in sample.then_included() if each[0] >= _LEAST]
    people = (then[0] if then else None) or _whole(found) or (None if review else _largest(found, sample))
    if people and (sample.is_part(people) or (not review and not then and sample.is_less(people, found))):
        people = None
    studies = _best(sample.studies()) if review else None
    if people and studies:
        parts = [count(each["n"]) for each in _COUNTED.finditer(sample.low, studies[2], studies[3] + _IN_THEM)]
        if len(parts) > 1 and studies[2] < people[2] < studies[3]:
            people = (people[0], sum(parts), people[2], studies[3])
        people = people if people[1] > studies[1] else None
    place = people or studies
    if place is None:
        return None
    return Participants(people and people[1], studies and studies[1], place[2] - 1, place[3] - 1)


def _best(candidates: Iterable[Candidate]) -> Candidate | None:
    """That of the most points, the first of equals; None where none has enough."""
    enough = (each for each in candidates if each[0] >= _LEAST)
    return max(enough, key=lambda each: (min(each[0], _ENOUGH), -each[2]), default=None)


def _whole(candidates: Sequence[Candidate]) -> Candidate | None:
    """The best, or a larger one before it that has enough points too, of which it is then a part."""
    best = _best(candidates)
    larger = (each for each in candidates if best and each[0] >= _LEAST and each[2] < best[2] and each[1] > best[1])
    return max(larger, key=lambda each: (each[1], -each[2]), default=best)


def _largest(candidates: Sequence[Candidate], sample: "_Sample") -> Candidate | None:
    """The largest number that something speaks for and nothing against, or the only one that nothing speaks against,
    behind the first sentences, which tell of others."""
    behind = [each for each in candidates if _FEW <= each[1] < _MANY and sample.is_behind(each[2])]
    people = [each for each in behind if not sample.text.endswith(("cases", "pairs", "families"), 0, each[3])]
    largest = max((n for points, n, _, _ in candidates if points > -5 and n < _MANY), default=0)
    spoken_for = [each for each in people if each[0] > 0 and each[1] >= largest]
    single = len({n for _, n, _, _ in behind}) == 1
    alone = [each for each in people if single and each[0] == 0 and not _BESIDE.search(sample.around(*each[2:])[0])]
    return max(spoken_for or alone, key=lambda each: (each[1], -each[2]), default=None)


class _Sample:
    """The numbers of a text that may be those of its sample, with points for the words around them."""

    def __init__(self, text: str) -> None:
        low = text.lower()
        self.text, self.low = text, low if len(low) == len(text) else text
        labels = [(each.start(), each[0].lower()) for each in _LABEL.finditer(text)]
        sections = [
            (at, _ASIDE.search(label) and not _FINDINGS.search(label))
            for at, label in labels
            if _ASIDE.search(label) or _SECTION.search(label)
        ]
        self._one_n = text.count("N =") + text.count("N=") == 1
        self.sections, self.aside = [at for at, _ in sections], [bool(aside) for _, aside in sections]

    @cached_property
    def shares(self) -> set[int]:
        return {count(each["n"]) for each in islice(_AS_SHARE.finditer(self.low), _MOST)}

    def is_aside(self, start: int) -> bool:
        section = bisect_right(self.sections, start)
        return bool(section) and self.aside[section - 1]

    def is_behind(self, start: int) -> bool:
        """Whether it is in a section on methods or results, or without sections behind the first fifth."""
        section = bisect_right(self.sections, start)
        return not self.aside[section - 1] if section else start > len(self.text) // 5

    def around(self, start: int, end: int) -> tuple[str, str]:
        """Up to 70 characters before and 170 after, of the same sentence, in lower case."""
        before = _SENTENCE_END.split(self.text[max(0, start - 70) : start + 2])[-1][:-2].strip()
        return before.lower(), _SENTENCE_END.split(self.text[end : end + 170], 1)[0].lower()

    def sentence(self, start: int) -> str:
        """Up to 240 characters before, of the same sentence."""
        return _SENTENCE_END.split(self.text[max(0, start - 240) : start])[-1].lower()

    def points(self, start: int, before: str, after: str, before_cues: Cues, after_cues: Cues) -> int:
        """Fewer under a heading such as BACKGROUND or CONCLUSION."""
        points = -3 if self.is_aside(start) else 0
        points += sum(points for points, cue in before_cues if cue.search(before))
        return points + sum(points for points, cue in after_cues if cue.match(after))

    def counted(self, pattern: re.Pattern[str], before_cues: Cues, after_cues: Cues) -> Iterator[Candidate]:
        for hit in islice(pattern.finditer(self.low), _MOST):
            start, end = hit.start("n"), hit.end()
            before, after = self.around(start, end)
            if self.low.count(")", start, end) > self.low.count("(", start, end):
                continue
            if not _NEVER_AFTER.match(after) and not _NEVER_BEFORE.search(before):
                yield self.points(start, before, after, before_cues, after_cues), count(hit["n"]), start, end

    def studies(self) -> Iterator[Candidate]:
        counted = self.counted(_COUNTED_STUDIES, _BEFORE_STUDIES, _AFTER_STUDIES)
        done = 0
        for both in islice(_BOTH_STUDIES.finditer(self.low), _FEW):
            points = self.points(
                both.start("n"), *self.around(both.start("n"), both.end()), _BEFORE_STUDIES, _AFTER_STUDIES
            )
            yield points, count(both["n"]) + count(both["more"]), both.start("n"), both.end()
        for points, n, start, end in counted:
            if start < done or _NOT_YET_READ.search(self.low, start, end):
                continue
            if kept := _THEN_STUDIES.match(self.low, end) or _OF_ALL_STUDIES.match(self.low, end):
                yield _ENOUGH, count(kept["n"]), kept.start("n"), kept.end()
                continue
            read = sum(points for points, cue in _BEFORE_STUDIES if cue.search(self.around(start, end)[0])) >= 0
            while read and (more := _MORE_STUDIES.match(self.low, end)):
                n, end = n + count(more["n"]), more.end()
                done = end
            if done == end:
                points = self.points(start, *self.around(start, end), _BEFORE_STUDIES, _AFTER_STUDIES)
            yield points - (3 if self.low[start - 1] == "(" else 0), n, start, end

    def people(self, *, review: bool) -> Iterator[Candidate]:
        """Numbers that people are named behind, of several groups added where one phrase joins them."""
        listed = 0
        for points, n, start, end in self.counted(_COUNTED, _BEFORE, _AFTER):
            before, others = self.around(start, end)[0], self._next_to(_AND_OTHERS, end)
            if self._is_joined(before, end, others):
                continue
            points, out_of = self._spoken_for(points, start, end, review=review), _OUT_OF.search(before) is not None
            found: Candidate | None = (points, n, start, end)
            if out_of and (some := _SOME_OF_THEM.match(self.low, end)):
                yield _ENOUGH, count(some["n"]), some.start("n"), some.end()
                continue
            if others:
                found = self._with_others((points, n, start, end), others)
            elif self.low[start:end].endswith(("controls", "hcs")) or _TWO_GROUPS.match(self.low, end):
                found = None
            elif not out_of:
                more = self._next_to(_IN_A_LIST, end)
                more = None if more and _APART.search(more["between"]) else more
                found = (points - 4 if more or start < listed else points, n, start, end)
                listed = more.end() if more else listed
            if found and found[1] > 1 and found[1] not in self.shares:
                yield found

    def _is_joined(self, before: str, end: int, others: re.Match[str] | None) -> bool:
        """Whether it stands in a row of groups that are not added."""
        as_well = _AS_WELL.match(self.low, others.end() if others else end)
        return bool(_AND_BEFORE.search(before) or _THEN_WITH.match(self.low, end) or as_well)

    def _spoken_for(self, points: int, start: int, end: int, *, review: bool) -> int:
        """Points, and more where the counted words or the sentence say that they took part."""
        before, _ = self.around(start, end)
        points = _ENOUGH if review and points >= 0 and _OF_STUDIES.search(before) else points
        points += 3 if _INCLUDED.search(self.low, start, end) else 0
        points += 2 if _ELIGIBLE.search(self.low, start, end) else 0
        studied = 0 <= points < _LEAST and _IN.search(before) and _WE.search(self.sentence(start))
        return points + 2 if studied else points

    def _with_others(self, group: Candidate, others: re.Match[str]) -> Candidate | None:
        """A group and the `others` named after it: added, or alone where they are a part of it; else none."""
        points, n, start, end = group
        before, _ = self.around(start, end)
        whole = _WHOLE_SAMPLE.search(self.low, others.start("n"), others.end())
        alike = n < 3 * count(others["n"]) < 9 * n
        apart = (_DID if whole else _APART).search(others["between"])
        if apart and _TOTAL.search(before):
            return group
        if not apart or (alike and _IN.search(before)):
            points, n, end = self._together(points, n, start, end, others)
        elif not _OUT_OF.search(before):
            if alike and not _LATER.match(self.low, others.end()):
                return None
            points -= 4
        return points, n, start, end

    def is_less(self, people: Candidate, others: Iterable[Candidate]) -> bool:
        """Whether a larger number of people is named and nothing says that theirs is of those who took part."""
        _, n, start, end = people
        before, after = self.around(start, end)
        larger = any(each[1] < _MANY and 9 * each[1] > 10 * n and each[0] > -5 for each in others)
        return larger and not _SURE.search(before) and not _SURE.search(after[:60])

    def is_part(self, people: Candidate) -> bool:
        """Whether healthy people or controls are counted apart from them."""
        _, n, start, end = people
        before, _ = self.around(start, end)
        if _CONTROL_GROUP.search(self.low) and not _CONTROLS.search(self.low, start, end):
            return True
        if _TOTAL.search(before):
            return False
        if _SEVERAL.search(self.low) or (self.low.endswith("cases", 0, end) and not _ILL.search(self.low)):
            return True
        apart = (each for each in _HEALTHY.finditer(self.low) if not start <= each.start("n") < end)
        if _EQUAL_NUMBER.search(self.low):
            return True
        return not _WHOLE_SAMPLE.search(self.low, start, end) and any(
            n <= 5 * count(each["n"]) <= 15 * n and not _OPEN.match(self.low, end, each.start()) for each in apart
        )

    def then_included(self) -> Iterator[Candidate]:
        for hit in islice(_THEN_INCLUDED.finditer(self.low), _MOST):
            start, end = hit.start("n"), hit.end()
            before, after = self.around(hit.start() + 1, end)
            known = _SAMPLED.search(before) and not _YEAR.fullmatch(hit["n"])
            if known and not _NEVER_AFTER.match(after):
                yield _ENOUGH + self.points(start, "-", after, (), _AFTER), count(hit["n"]), start, end

    def from_phrases(self) -> Iterator[Candidate]:
        """Numbers that people are not named behind, and wholes of "395 of 1241 (32%) patients"."""
        for pattern, points, word in _NUMBER_PHRASES:
            read = self._sexes if pattern in (_SEXES, _BOTH_SEXES) else self._from_phrase
            for hit in islice(pattern.finditer(self.low), _MOST if word in self.low else 0):
                if found := read(pattern, points, hit):
                    yield found

    def _sexes(self, pattern: re.Pattern[str], points: int, hit: re.Match[str]) -> Candidate | None:
        """The sum of both sexes, if it is of all: a group's, or with shares that make a whole."""
        if pattern is _SEXES:
            whole = _GROUP.search(self.around(hit.start() + 1, hit.end())[0]) is not None
        else:
            whole = abs(Decimal(hit["share"]) + Decimal(hit["rest"]) - 100) <= 1
        return (points, count(hit["n"]) + count(hit["other"]), hit.start("n"), hit.end()) if whole else None

    def _from_phrase(self, pattern: re.Pattern[str], points: int, hit: re.Match[str]) -> Candidate | None:
        name = "m" if hit.lastgroup == "m" else "n"
        before, after = self.around(hit.start() + 1, hit.end())
        if pattern is _HOW_MANY_OF:
            if _ENROLLED.search(before) or _INCLUDED_OF.match(after):
                return _ENOUGH, count(hit["part"]), hit.start("part"), hit.end()
            again = re.findall(rf"(?:/|of ){hit['n']}\b", self.low)
            if not _TOTAL_OF.search(before) and len(again) < _OFTEN:
                return None
        if _NEVER_AFTER.match(after) or (pattern is _RATE and count(hit["n"]) < _FEW):
            return None
        start = hit.start(name)
        return points + self.points(start, "-", after, (), _AFTER), count(hit[name]), start, hit.end()

    def _together(self, points: int, n: int, start: int, end: int, others: re.Match[str]) -> tuple[int, int, int]:
        """Points, number and end of a group with the `others` that are named after it."""
        between = _BRACKETS.sub("", others["between"])
        parts = [count(each["n"]) for each in _COUNTED.finditer(between)]
        parts += [count(each["n"]) for each in _BARE.finditer(between)]
        more = sum(parts) + count(others["n"])
        n, end = n if parts and n == more else n + more, others.end()
        points += 3 if _WHOLE_SAMPLE.search(self.low[start:end]) else 0
        return points + sum(points for points, cue in _AFTER if cue.match(self.around(start, end)[1])), n, end

    def two_kinds(self) -> Iterator[Candidate]:
        """The sums of "160 frontline and 146 other nurses"."""
        for points, n, start, end in self.counted(_BOTH, _BEFORE, _AFTER):
            kinds = _BOTH.match(self.low, start - 1)
            others = [each for each in kinds.group("other", "more") if each] if kinds else []
            yield points, n + sum(map(count, others)), start, end

    def _next_to(self, pattern: re.Pattern[str], end: int) -> re.Match[str] | None:
        """What the pattern finds behind a number of people, unless that is of a part of them."""
        found = pattern.match(self.low, end)
        return found if found and not _PART_OF_THEM.search(found["between"]) else None

    def named_n(self, *, review: bool) -> Iterator[Candidate]:
        """Numbers as in "adults (n = 194) were recruited"; several in a row are of groups, which are added."""
        rows: list[list[re.Match[str]]] = []
        for hit in islice(_N_EQUALS.finditer(self.low), _MOST):
            if rows and _JOINS.fullmatch(self.low, rows[-1][-1].end(), hit.start()):
                rows[-1].append(hit)
            else:
                rows.append([hit])
        for row in rows:
            first, *others = row
            before = f" {_SENTENCE_END.split(self.text[max(0, first.start() - 160) : first.start()])[-1].lower()}"
            follow = self.low[row[-1].end() : row[-1].end() + 110]
            planned = " will " in before or _A_SEX.search(first[0])
            if planned or _ANIMAL.search(before) or _ANIMAL.search(follow) or _MORE_WITH.match(follow):
                continue
            n, more = count(first["n"]), sum(count(each["n"]) for each in others)
            if others and n != more and not review:
                points, n = self._groups(first, before), n + more
            else:
                points = self._one(rows, row, before, review=review)
            yield points, n, first.start(), row[-1].end()

    def _groups(self, first: re.Match[str], before: str) -> int:
        if _SHARE.match(self.low, first.end()):
            return -9
        return _LEAST if _GROUP.search(before) else 0 if _SAMPLED.search(before) else -1

    def _one(
        self, rows: Sequence[Sequence[re.Match[str]]], row: Sequence[re.Match[str]], before: str, *, review: bool
    ) -> int:
        """Points of a number that stands for itself, or before those of its parts."""
        (first, *others), follow = row, self.low[row[-1].end() : row[-1].end() + 110]
        part = _SHARE.match(follow) or _OF_SOME.match(before) or _PART_BEFORE.search(before)
        after = self.around(first.start(), first.end())[1].partition(")")[2]
        points = self.points(first.start(), before, after, (), _AFTER)
        points += 3 if _OF_SAMPLE.search(before) else 0
        if review and _STUDIES_BEFORE.search(before + self.low[first.start() : first.start("n")]):
            points = _ENOUGH
        elif not others and (part or self._beside(rows, first)):
            points = -1
        elif _OF_PEOPLE_AFTER.match(self.low, first.end()) or (not others and _GROUP.search(before)):
            points += 3
        elif self._is_whole(rows, row, before) and not _OF_STUDIES_N.search(before):
            points = max(points, 0) + _ENOUGH - (3 if self.is_aside(first.start()) else 0)
        elif _ALONE_AFTER.search(before):
            points = -1
        elif _SAMPLED.search(before):
            points -= 0 if others else min(4 * (len(rows) - 1), 12)
        elif points < _ENOUGH or others:
            points = -1
        return points

    def _is_whole(self, rows: Sequence[Sequence[re.Match[str]]], row: Sequence[re.Match[str]], before: str) -> bool:
        """Whether it is written as the number of a study is: as the one "N", described, or behind "study"."""
        capital = len(row) == 1 and self._one_n and "N" in self.text[row[0].start() : row[0].start("n")]
        described = len(rows) == 1 and _DESCRIBED.match(self.low, row[-1].end())
        return bool(capital or described or _IN_STUDY.search(before))

    def _beside(self, rows: Sequence[Sequence[re.Match[str]]], first: re.Match[str]) -> bool:
        """Whether a number like it is named so near that both are of groups."""
        n = count(first["n"])
        near = [count(each["n"]) for row in rows for each in row if 0 < abs(each.start() - first.start()) < _NEARBY]
        total = 0
        for each in near:
            total += each
            if total == n:
                return False
        if near and n > 0.9 * sum(near) >= 0.8 * n:
            return False
        return any(n <= 3 * each for each in near)


_MEASURES = {
    "SMD": r"(?:weighted )?[Ss]tandardi[sz]ed (?:weighted )?[Mm]ean [Dd]ifferences?|SMDs?|Hedge'?s'? ?g|Cohen'?s d",
    "MD": r"(?:[Ww]eighted )?[Mm]ean (?:\w{1,20} )?[Dd]ifferences?|[Dd]ifferences? in (?:the )?means?|W?MDs?",
    "IRR": r"(?:[Ii]ncidence[ -])?[Rr]ate[ -][Rr]atios?|a?IRRs?",
    "OR": r"[Oo]dds[ -][Rr]atios?|[Rr]elative odds|[acmp]?ORs?|AORs?",
    "HR": r"[Hh]azards?[ -][Rr]atios?|[acms]?HRs?|s?dHRs?|[AS]HRs?",
    "RR": r"[Rr]isk[ -][Rr]atios?|[Rr]elative [Rr]isks?(?! (?:reduc|ratio))|[acmp]?RRs?",
    "AUC": r"[Aa]reas? under (?:the )?(?:[\w-]{1,25} ){0,4}curves?|AU(?:RO)?Cs?|AUC-?ROC|[Cc]-?statistics?",
    "r": r"[Cc]orrelation coefficients?|(?:rho|ρ|[rR]|r[sp])(?= ?[=:])",
    "difference": r"[Dd]ifferences?",
}
_RATIOS = {"OR", "HR", "RR", "IRR"}
_EXPANSION = {"MD": "differ", "IRR": "rate", "OR": "odds", "HR": "hazard", "RR": "risk|rate", "AUC": "area|curve"}
_DEFINED = {name: compiled_later(rf"[(\[][a-z]?{name}s?[)\]]") for name in _EXPANSION}
_SIGNS = (
    "CI",
    "nterval",
    "curve",
    "HR",
    "OR",
    "RR",
    "AUC",
    " ratio",
    "Hedge",
    "Cohen",
    "SMD",
    "MD ",
    "MD:",
    " r ",
    "(r",
    "[r",
    "rho",
    "ρ",
)
_ALTERNATIVES = "|".join(f"(?P<{name}>{words})" for name, words in _MEASURES.items())
_MENTION = compiled_later(rf"[ (\[,;:/=](?:{_ALTERNATIVES})(?:adj|_\(\w{{1,6}}\))?(?![\w²])")
_NUMBER = r"-?[ ]?(?:\d{1,7}(?:\.\d{1,8})?|\.\d{1,8})(?!\d)"
_INTERVAL = r"(?:[Cc]onfidence|[Cc]redible)[ -][Ii]ntervals?|[Cc]onfidence [Ll]imits?|CI95|C\.I\.|CIs?|CrIs?"
_ESTIMATE = compiled_later(
    rf"""(?x) [ (\[=:,] (?<!\d[ ,]) (?!\d\d(?:\.\d)?[ ]?%[ -]?[ ]?(?:CI|CrI|[Cc]onf|[Cc]red))
    (?P<value>{_NUMBER}) (?P<percent>[ ]?%)?
    (?: (?:[ ]?[x×][ ]?10[⁰¹²³⁴-⁹⁻^-]*)?
        (?P<unit>(?:[ ](?!CI|vs|and\b|to\b|in\b|with\b)[A-Za-z/μ°⁻¹-]{{1,12}}){{0,3}})
        (?:[ ]per[ ][^()\[\],;]{{1,45}})? (?:[ ]?[\[(][^\d()\[\]][^()\[\]]{{1,40}}[\])])?
        (?:[,;][ ][Pp][ ]?[=<>][ ]?0?\.\d+)?
        [\s,;:(\[]{{0,4}} (?:(?:and|with)[ ](?:an?[ ]|the[ ])?)? (?:(?P<level>\d\d(?:\.\d)?)[ ]?%?[ -]{{0,2}})?
        (?:{_INTERVAL}) (?:[ ]?[(\[{{](?:\d\d[ ]?%[ ]?)?(?:CIs?|CrI)[)\]}}])? (?:[ ]?(?P<level_after>\d\d)[ ]?%)?
        [\s:;=,]{{0,3}} (?:of[ ]|from[ ]|range[ds]?:?[ ])? [\[(]?
      | (?P<bare>[ ]?[(\[]) (?=[^()\[\]]{{3,30}}[)\];,]) )
    [ ]?(?P<low>{_NUMBER}) [ ]?%? [ ]? (?:-|to|,|;|and|~)[ ]? (?P<high>{_NUMBER}) (?P<percents>[ ]?%)?"""
)
_POINT = compiled_later(  # a value right after the measure
    rf"""(?x) (?:[ ]?[(\[]\w{{1,6}}[)\]])? [ ]?(?:(?:of|was|is)[ ]|[=:,][ ]?|[ ]){{1,3}}
    (?P<value>{_NUMBER}) (?P<percent>[ ]?%)?"""
)
_P = (
    r"[Pp] ?-?(?:values?|trend)? ?(?P<sign>(?:[<>=≤≥] ?){1,2})"
    r"(?P<p>0?\.\d+|[01](?:\.0+)?|\d(?:\.\d+)? ?[x×] ?10[⁻⁰¹²³⁴-⁹^-]+)(?!\.?\d)"
)
_P_AFTER = compiled_later(rf"[\s,;:%)\]]{{0,4}}(?:and )?{_P}")
_P_BEFORE = compiled_later(rf"{_P}[,;] ?(?:adjusted )?$")
_OTHER_STATISTIC = compiled_later(  # right before the value
    r"(?:coefficient|prevalence|incidence|sensitivity|specificity|accuracy|predictive value|number needed|NNT|kappa|"
    r"proportion|median|\bmean|β|η2|\bB|\bSE|\bbeta|\bSIR|\bSMR|\bPR|prevalence ratio|rate|survival|concordance|index|"
    r"ICC)s?(?: \(\w+\))?[ :=,([]{0,3}(?:of|was|is|were)? ?$"
)
_BREAK = compiled_later(r"[.!?][)\]]? +[A-Z]|[a-z)\]]\.[A-Z]")
_OF_DIFFERENCE = compiled_later(r"(?: in [\w -]{1,60})?(?: between [\w ,-]{1,50})?[ ,=:;([]{0,3}(?:of|was|is)? ?$")
_MISPRINTED = compiled_later(
    rf"[ ,;(\[]{{0,4}}(?:(?:\d\d(?:\.\d)? ?% ?)?(?:{_INTERVAL})|[\d.]+ ?(?:-|to) ?\d)"
)  # an interval that is not read
_RANGE = compiled_later(r" ?(?:-|to) ?\.?\d")
_EQUALS = compiled_later(r" ?[=:] ?")
_FAR, _NEAR, _DIRECT = 160, 40, 8  # characters between the measure and its value
_FOR_OUTCOME = compiled_later(  # after the measure
    r"(?: ?[\[(][^()\[\]]{0,30}[)\]])* (?:for|of) (?:the )?(?P<what>[A-Za-z][^,;:()\[\]=]{2,80}?)"
    r" (?:was|were|is|are|comparing|between|among|with|at|by|per|vs|versus|compared)\b"
)
_BEFORE_MEASURE = [
    compiled_later(pattern)
    for pattern in (
        r"(?:risks?|odds|hazards?|incidences?|likelihood|probability|chances?|predictors?|factors?|predictive) "
        r"(?:of|for|in) (?P<what>[A-Za-z\d][^,;:()\[\]=]{2,80})",
        r"(?:differences? (?:in|of)|effects? on|(?:improv|reduc|decreas|increas)\w+|lower|higher|shorter|longer|worse|"
        r"better) (?:in )?(?P<what>(?!(?:by|with|among|in|of|than) )[A-Za-z\d][^,;:()\[\]=]{2,60}?) ?[(\[]$",
    )
]
_TRAILING = compiled_later(
    r" (?:compared|comparing|in|among|between|with|than|versus|vs|at|after|by|from|when|was|were|for|during|on|within|"
    r"over|are|is|who|that|whereas|while|had|as|but|and|fell|rose|declined|dropped|increased|decreased|improved)\b.*"
)


def _effects(text: str) -> Iterator[Effect]:
    found = list(_MENTION.finditer(text)) if any(each in text for each in _SIGNS) else []
    mentions = found[:1]
    for last, each in pairwise(found):
        if each[0][0] not in "([" or each.start() - last.end() > 1 or each.lastgroup != last.lastgroup:
            mentions.append(each)  # it does not abbreviate the one before, as in "odds ratio (OR)"
    points = [_POINT.match(text, each.end()) for each in mentions]
    estimates = {each.start("value"): each for each in points if each}
    estimates |= {each.start("value"): each for each in _ESTIMATE.finditer(text)}
    starts, done = [each.start() for each in mentions], 0
    misused = {name for name in _EXPANSION if _means_another(text, name)}
    for at in sorted(estimates):
        before = bisect_left(starts, at) - 1
        if before < 0 or at < done:
            continue
        mention = mentions[before]
        gap = text[max(done, mention.end()) : at]
        abbreviated = mention[0].strip(" ([,;:/=s").isupper()
        misread = abbreviated and mention.lastgroup in misused
        if not misread and _belongs(text, mention, estimates[at], gap):
            effect = _effect(text, mention, estimates[at], gap)
            if effect:
                done = effect.end + 1
                yield effect


def _means_another(text: str, measure: str) -> bool:
    """Whether the text defines the abbreviation as something else, as "heart rate (HR)" does."""
    defined = _DEFINED[measure].search(text)
    words = text[max(0, defined.start() - 60) : defined.start()].lower() if defined else ""
    return defined is not None and not re.search(_EXPANSION[measure], words)


def _belongs(text: str, mention: re.Match[str], hit: re.Match[str], gap: str) -> bool:
    """Whether the value is near enough to the measure to be its own, and of no other statistic."""
    at = hit.start("value")
    if len(gap) > _FAR or _BREAK.search(gap) or _OTHER_STATISTIC.search(text[max(0, at - 40) : at]):
        return False
    if mention.lastgroup == "difference" and not _OF_DIFFERENCE.fullmatch(gap):
        return False
    nearby = text[max(0, at - 400) : at]
    return not hit.groupdict().get("bare") or len(gap) <= _DIRECT or "CI" in nearby or "nterval" in nearby


def _effect(text: str, mention: re.Match[str], hit: re.Match[str], gap: str) -> Effect | None:
    measure, found = mention.lastgroup or "", hit.groupdict()
    numbers = (found.get(name) for name in ("value", "low", "high"))
    value, low, high = (Decimal(each.replace(" ", "")) if each else None for each in numbers)
    after = _P_AFTER.match(text, hit.end())
    p = after or _P_BEFORE.search(text[max(0, mention.start() - 25) : mention.start()])
    ci = _MISPRINTED.match(text, hit.end())
    exact = "." in found["value"] and measure != "difference"
    if low is None and _RANGE.match(text, hit.end("value")):
        return None
    certain = low is not None or (exact and (p or measure == "AUC" or (_EQUALS.fullmatch(gap) and not ci)))
    if value is None or not certain or not _plausible(measure, value, low, high, found):
        return None
    level, own = found.get("level") or found.get("level_after"), text.startswith(gap, mention.end())
    start = mention.start(measure) if own and len(gap) <= _NEAR else hit.end("value") - len(found["value"].strip())
    return Effect(
        measure,
        value,
        start - 1,
        (after or hit).end() - 1,
        low,
        high,
        Decimal(level) if level else None,
        f"{p['sign'].replace('=', '').strip()} {p['p']}".strip() if p else None,
        _outcome(text, mention, hit.start("value"), own=own),
    )


def _plausible(
    measure: str, value: Decimal, low: Decimal | None, high: Decimal | None, found: dict[str, str | None]
) -> bool:
    """Whether a measure can have this value and interval; a ratio has no unit."""
    percent = bool(found.get("percent") or found.get("percents"))
    if low is not None and high is not None and not low <= value <= high:
        return False
    if measure in _RATIOS:
        return value > 0 and (low is None or low >= 0) and not percent and not found.get("unit")
    if measure == "AUC":
        return 0 < value <= (100 if percent else 1)
    return measure != "r" or abs(value) <= 1


def _outcome(text: str, mention: re.Match[str], at: int, *, own: bool) -> str | None:
    """The words for what was measured, where the sentence says so: "HR for X was", "the risk of X (HR"."""
    if named := _FOR_OUTCOME.match(text, mention.end()):
        return named["what"] if named.end() <= at + 1 else None
    lead = _BREAK.split(text[max(0, mention.start() - 300) : mention.start() + 1])[-1] if own else ""
    for pattern in _BEFORE_MEASURE:
        *_, last = [None, *pattern.finditer(lead)]
        if last and not {")", "]"} & set(lead[last.end() :]):
            words = _TRAILING.sub("", last["what"]).strip(" .")
            return words if 0 < len(words.split()) <= 8 and words not in ("risk", "odds") else None
    return None
