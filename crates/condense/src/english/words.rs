//! The English word classes: closed classes and general vocabulary.

use std::sync::LazyLock;

use crate::lexicon::{Classes, Lexicon};

pub(super) const ARTICLE: Classes = 1;
/// my, our, your.
pub(super) const POSSESSIVE: Classes = 1 << 1;
/// I, we, you, somebody: pronouns that depend on nothing said before.
pub(super) const PRONOUN: Classes = 1 << 2;
pub(super) const PREPOSITION: Classes = 1 << 3;
pub(super) const CONJUNCTION: Classes = 1 << 4;
pub(super) const BE: Classes = 1 << 5;
/// do, have and the modal verbs.
pub(super) const AUXILIARY: Classes = 1 << 6;
pub(super) const QUESTION: Classes = 1 << 7;
pub(super) const ADVERB: Classes = 1 << 8;
/// A verb in its base form.
pub(super) const VERB: Classes = 1 << 9;
/// A verb with an ending (or an irregular form).
pub(super) const VERB_FORM: Classes = 1 << 10;
/// A word that is as often a noun as a verb.
pub(super) const NOUN_OR_VERB: Classes = 1 << 11;
pub(super) const ADJECTIVE: Classes = 1 << 12;
/// A noun that says little without the thing it belongs to: types, benefits, price.
pub(super) const RELATIONAL: Classes = 1 << 13;
/// A noun for a person or an animal.
pub(super) const ANIMATE: Classes = 1 << 14;
pub(super) const PLACE: Classes = 1 << 15;
pub(super) const TIME: Classes = 1 << 16;
/// Words of thanks, greetings, closings.
pub(super) const SMALL_TALK: Classes = 1 << 17;
/// all, some, many, other.
pub(super) const QUANTIFIER: Classes = 1 << 18;
/// A verb about the form of an answer: summarise, translate.
pub(super) const FORM_VERB: Classes = 1 << 19;
/// A verb that orders something done.
pub(super) const ORDER_VERB: Classes = 1 << 20;
/// A noun about the conversation or a text itself, never a topic: question, answer, thing, example.
pub(super) const EMPTY_NOUN: Classes = 1 << 21;
/// Transitive verbs that need an object in a question such as "How do I fix?".
pub(super) const SPEECH_VERB: Classes = 1 << 22;

/// Everything that is never part of a noun phrase.
pub(super) const FUNCTION: Classes = ARTICLE
    | POSSESSIVE
    | PRONOUN
    | PREPOSITION
    | CONJUNCTION
    | BE
    | AUXILIARY
    | QUESTION
    | ADVERB
    | QUANTIFIER
    | SPEECH_VERB;

/// Regular verbs by their base form; the endings are generated.
const VERBS: &str = "accept achieve acquire add adjust admit adopt advise affect afford agree allow apologise apologize \
appear apply appoint appreciate approve argue arrange arrive ask assume attach attend avoid bake bark barge become \
begin behave believe belong boil borrow bother break breathe bring build bury buy calculate cancel carry catch cause \
celebrate choose chop clarify clean climb close collect combine come compare complain complete confirm connect consider \
consist consume contain continue contribute convert convince cook create deal decide decline decrease defend define \
delay delete deliver deny depend deploy deserve destroy detect determine develop die differ differentiate dig disable \
disappear discover discuss dissolve divide donate draw drive drop eat edit educate elect eliminate employ enable \
encourage encrypt end enforce engage enjoy ensure enter erase establish evaluate evolve examine exist expand expect \
expire explain explode expose extend fail fall feed feel fight fill find finish fit fix fly follow forget forgive form \
fry gain gather generate get give go govern grow handle happen hate hear heat help hide hire hold hunt hurt identify \
ignore illustrate imagine implement imply impose improve include increase indicate infect inform inherit injure inspect \
inspire install intend introduce invent invest involve join jump keep kill knit know lay lead learn leave lend let lie \
live look lose maintain make manage mean meet melt merge migrate mix modify negotiate obtain occur offer open operate \
originate overcome own paint participate perform persuade play pour pray predict prefer prepare prescribe present \
prevent proceed produce promote propose protect prove provide publish pull punish purchase push qualify quit raise reach \
react read realise realize receive recommend recover recycle reduce refer reflect refuse register regulate reject relate \
relax release rely remain remember remove renew repair replace reply represent require rescue resemble reset resign \
resist resolve respond restore retire retrieve reveal revoke rise roast rotate ruin run satisfy save say see seek seem \
select sell send separate serve settle sew shine shut sing sink sit sleep solve speak specify spend split spread stand \
start stay steal stick stop store strengthen struggle submit subscribe succeed suffer suggest suit support survive swim \
switch take teach tell tend terminate think throw translate transmit travel treat trust try turn unlock understand \
update upgrade upload use vary verify visit wait walk want wash watch wear weigh win wish wonder worry write";

const IRREGULAR: &str = "became began begun bought brought built came caught chose chosen dealt drawn drew driven drove \
eaten ate fell fallen fed felt fought flew flown forgot forgotten found gave given went gone got gotten grew grown had \
heard held hid hidden kept knew known laid led left lent lost made meant met paid proved proven ran rose risen said sang \
saw seen sold sent sat slept spoke spoken spent stood stole stolen stuck sung swam swum took taken taught told thought \
threw thrown understood wore worn won wrote written died dying lies lying born using";

/// Words that are as often nouns as verbs; the endings are generated for the verb.
const NOUNS_OR_VERBS: &str = "access act address age aim alarm answer attack back backup balance ban base battle benefit \
bid bill block bloom board book boost bottle box brand breed budget burn cache call camp care cast challenge chance \
change charge chat check claim class clock code colour comment command commit compost contact contract control copy \
cost count cover crash credit cross crop cry culture cure cut cycle damage dance date deal debate debit delay demand \
deposit design desire detail diet dispute document doubt download dress drink drill dust effect escape estimate exchange \
exercise exit experience export exhibit face fail fall farm fast favour fear feature file film finance fine fire fish \
flight float flood flow focus force forecast format frame freeze fuel function fund garden grade grant guarantee guard \
guess guide harm harvest head heat hike hit host house hunt impact import influence insure interest invoice issue \
judge jump kick label lack land last laugh launch leak lease leave lift light limit line link list load loan lock log \
love mail map mark market mask match matter measure migrate milk mind mine model monitor move mount murder name need \
note notice number object offer order outline pack page paint park pass paste pause pay peak permit phone photograph \
pick place plan plant play plot point power practice practise present press price print process produce profit \
programme program progress project promise prompt purchase push question queue quote race rain range rank rate reason \
record refund regret release rent repair reply report request research reserve rest restart result retry return \
reveal review reward ride ring risk roll root row rule rush sail sample scale scan schedule score search seat \
sense sentence set share shelter shift ship shock shop show side sign signal smell smoke sound spark speed split \
spot spray stage stain stand start state stay steam step stock stop store storm stress stretch strike structure struggle \
study style subject supply support surprise survey swing switch talk target taste tax team test thank thread time tip \
title touch tour trace track trade train transfer transport trap travel treat trend trick trigger trouble turn twist \
type upgrade use value view visit vote wage walk want warn waste watch water wave weather weight win wonder work worry \
wound wrap";

fn endings(verb: &str) -> [String; 3] {
    let last = verb.as_bytes()[verb.len() - 1];
    let before = verb.as_bytes()[verb.len() - 2];
    let vowel = |b: u8| b"aeiou".contains(&b);
    let short = verb.len() <= 5
        && verb.len() >= 3
        && !vowel(last)
        && !b"wxyk".contains(&last)
        && vowel(before)
        && !vowel(verb.as_bytes()[verb.len() - 3]);
    let (s, ed, ing) = match last {
        b'e' => (format!("{verb}s"), format!("{verb}d"), format!("{}ing", &verb[..verb.len() - 1])),
        b'y' if !vowel(before) => {
            (format!("{}ies", &verb[..verb.len() - 1]), format!("{}ied", &verb[..verb.len() - 1]), format!("{verb}ing"))
        }
        _ => (format!("{verb}s"), format!("{verb}ed"), format!("{verb}ing")),
    };
    let s = if verb.ends_with("sh")
        || verb.ends_with("ch")
        || verb.ends_with('x')
        || verb.ends_with("ss")
        || verb == "go"
    {
        format!("{verb}es")
    } else {
        s
    };
    if short && last != b'e' && last != b'y' {
        let doubled = char::from(last);
        return [s, format!("{verb}{doubled}ed"), format!("{verb}{doubled}ing")];
    }
    [s, ed, ing]
}

pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut words = Lexicon::default();
    for verb in VERBS.split_whitespace() {
        words.add_word(VERB, verb);
        for form in endings(verb) {
            words.add_word(VERB_FORM, &form);
        }
    }
    words.add(VERB_FORM, IRREGULAR);
    for verb in NOUNS_OR_VERBS.split_whitespace() {
        words.add_word(NOUN_OR_VERB, verb);
        let [s, ed, ing] = endings(verb);
        words.add_word(NOUN_OR_VERB, &s);
        words.add_word(VERB_FORM, &ed);
        words.add_word(VERB_FORM | NOUN_OR_VERB, &ing);
    }
    words.add(ARTICLE, "a an the");
    words.add(POSSESSIVE, "my our your");
    words.add(
        PRONOUN,
        "i we you me us myself ourselves yourself itself himself herself themselves mine ours yours somebody someone \
         something anybody anyone anything everybody everyone everything nobody nothing none people's",
    );
    words.add(
        PREPOSITION,
        "of in on at by for from with without about into onto to over under between among against during before after \
         through across within per via than as like near around behind beyond beside besides despite except inside \
         outside off out since toward towards until till upon versus vs regarding concerning unlike along amongst \
         throughout up down",
    );
    words.add(CONJUNCTION, "and or but nor yet so if because although though while whereas unless whether once");
    words.add(BE, "is are was were be been being am isn't aren't wasn't weren't ain't 're 'm");
    words.add(
        AUXILIARY,
        "do does did have has had can could will would shall should may might must ought don't doesn't didn't haven't \
         hasn't hadn't can't couldn't won't wouldn't shouldn't mustn't cannot 'll 'd 've having doing done gonna wanna",
    );
    words.add(QUESTION, "what which who whom whose when where why how what's");
    words.add(
        ADVERB,
        "not also too again still just only even very much more most less least often ever never always sometimes \
         usually really actually please then now here instead maybe perhaps already else soon together rather quite \
         almost away ago later early well far long today tomorrow yesterday currently exactly specifically generally \
         typically approximately roughly apart alone otherwise however therefore thus hence moreover furthermore \
         meanwhile afterwards beforehand anyway anyhow besides etc yes no nope yeah yep ok okay sure oh hmm um well \
         right nowadays initially finally eventually recently lately originally further overall altogether forever \
         twice somewhere anywhere everywhere elsewhere abroad online kindly simply directly immediately normally",
    );
    words.add(
        QUANTIFIER,
        "all some any many few several each every both either neither other others another enough such various \
         certain same much lots plenty",
    );
    words.add(
        ADJECTIVE,
        "good bad better best worse worst big small large little new old young high low long short hot cold warm cool \
         easy hard difficult simple safe dangerous important main major minor different similar common rare popular \
         famous possible impossible necessary available free cheap expensive true false real fake early late first \
         second third last next previous current recent modern ancient big tall heavy light dark fast slow strong weak \
         healthy sick deep wide narrow rich poor clear full empty open public private whole entire specific general \
         special normal typical natural legal illegal useful effective harmful beneficial successful likely unlikely \
         able unable worth ready sure aware interesting notable significant key basic overall average total certain \
         several visible contagious allowed required involved known related associated considered made used named \
         called supposed meant born bigger smaller larger higher lower older younger longer shorter cheaper faster \
         slower harder easier stronger heavier lighter biggest smallest largest highest lowest oldest longest shortest \
         cheapest fastest slowest hardest easiest strongest latest earliest best-known mandatory optional \
         correct wrong happy sad nice great fine bright quick serious severe mild early big permanent temporary daily \
         weekly monthly yearly annual nightly",
    );
    words.add(
        RELATIONAL,
        "type types kind kinds sort sorts benefit benefits advantage advantages disadvantage disadvantages pro pros con \
         cons cause causes effect effects side-effects symptom symptoms treatment treatments cure price prices cost \
         costs fee fees difference differences similarity similarities history origin origins purpose purposes use \
         uses example examples part parts member members role roles function functions feature features property \
         properties characteristic characteristics size weight height length width age colour color name names meaning \
         definition reason reasons result results impact impacts significance importance ingredient ingredients rule \
         rules requirement requirements limit limits limitation limitations deadline deadlines step steps process \
         procedure policy policies term terms condition conditions duration period periods window time times amount \
         rate rates number numbers quantity quality level levels stage stages phase phases version versions option \
         options alternative alternatives detail details description overview summary background population capital \
         location address date dates author authors owner owners founder founders leader leaders director directors \
         creator inventor winner winners theme themes plot setting style styles method methods way ways risk risks \
         danger dangers problem problems issue issues challenge challenges solution solutions consequence \
         consequences outcome outcomes success failure future past goal goals aim strategy strategies component \
         components element elements structure source sources value values chance chances likelihood probability \
         speed depth diameter temperature distance dose dosage penalty penalties charge charges status state \
         side form forms pattern patterns factor factors sign signs aspect aspects area areas range extent basis \
         influence influences contribution contributions achievement achievements accomplishments award awards \
         criticism reception response reaction lifespan diet habitat model models successor predecessor",
    );
    words.add(
        EMPTY_NOUN,
        "thing things stuff question questions answer answers something article page information info point points \
         lot bit case cases matter fact facts kind sort way ways example examples one ones rest idea ideas time times \
         conversation detail details more",
    );
    words.add(
        ANIMATE,
        "man men woman women person people boy girl child children kid kids baby babies son daughter father mother dad \
         mum mom parent parents brother sister husband wife uncle aunt cousin grandfather grandmother grandson \
         granddaughter nephew niece friend friends neighbour neighbor colleague boss manager director president minister \
         king queen prince princess doctor nurse patient lawyer judge tenant landlord teacher student professor author \
         writer singer actor actress artist painter composer poet player coach captain soldier officer policeman \
         customer client user employee employer worker engineer scientist founder inventor leader owner chef dog cat \
         horse puppy kitten cow bird pet animal guy lady gentleman passenger driver pilot witness defendant plaintiff \
         team band group family members users students patients customers employees workers tenants dogs cats kittens \
         puppies doctors parents brothers sisters scientists teachers players",
    );
    words.add(
        PLACE,
        "city town village country state region island street office warehouse building house home museum hotel airport \
         station park restaurant school university hospital lab laboratory shop store factory branch campus harbour \
         beach mountain lake river castle room clinic centre center headquarters area district province continent \
         site market gallery library",
    );
    words.add(
        TIME,
        "day days week weeks month months year years hour hours minute minutes second seconds winter summer spring \
         autumn morning evening night weekend monday tuesday wednesday thursday friday saturday sunday january february \
         march april may june july august september october november december century decade tonight today date",
    );
    words.add(
        SMALL_TALK,
        "thanks thank you so much very that's that 's all for now ok okay great cool hi hello hey bye goodbye good \
         morning afternoon evening night day nice perfect awesome lol haha no problem cheers got it i see understood \
         wonderful excellent brilliant lovely alright well done see later welcome a lot the help your appreciate is \
         everything have was helpful yes no yeah yep nope please sure fine right really interesting thats ciao there \
         how are doing again bot not nothing else just what needed need to know makes sense wow this information answer \
         and then oh",
    );
    words.add(
        FORM_VERB,
        "summarise summarize shorten rephrase reword paraphrase translate repeat simplify reformat rewrite format \
         condense",
    );
    words.add(
        ORDER_VERB,
        "run write add fix remove delete create make open close build commit deploy rename install update refactor \
         send save move copy start stop restart cancel call set turn put check generate draft implement print push \
         schedule remind book order edit",
    );
    words.add(SPEECH_VERB | VERB, "tell explain describe show let say mean list give know compare discuss think");
    words.add(QUANTIFIER, "more");
    words
});

/// What the language lets a word be; 0 for words of subject matter.
pub(super) fn classes(word: &str) -> Classes {
    LEXICON.get(word)
}
