"""Everyday words by kind: the language of the small voice. All are short, frequent and in the
dictionary of the recogniser that measures the result (measure.py)."""


def _list(text):
    return text.split()


PERSON = _list("""man woman girl child teacher doctor farmer driver student writer singer nurse
lawyer friend brother sister mother father neighbor cousin baby artist judge player worker
manager""")
ANIMAL = _list("dog cat horse bird fish cow lion rabbit monkey tiger chicken")
THING = _list("""table chair window door book letter picture clock computer box bottle bag hat
ticket flower apple machine engine bicycle car train truck piano guitar blanket""")
PLACE = _list("""house garden river mountain village city street bridge road kitchen school church
hospital office station island valley field market store hotel airport beach library museum park
farm harbor theater restaurant bedroom bathroom building corner""")
FOOD = _list("""bread cheese coffee tea water milk juice soup rice fruit cake chicken salad sugar
butter chocolate breakfast lunch dinner pizza honey""")
TOPIC = _list("""music history science weather money money time language work business health family
football the-news the-future the-past nature art color sound traffic sport travel""")
IDEA = _list("""question answer idea problem plan story song game party job lesson movie meeting
message reason secret dream mistake decision journey project test""")
MANNER = _list("""old young tall short small large great quiet loud happy sad angry brave kind
strong poor honest famous nice good bad funny serious gentle lovely wonderful busy tired hungry
careful""")
SHAPE = _list("""old small large great heavy light empty clean simple beautiful new modern special
different expensive cheap perfect good big little lovely wonderful nice important broken""")
SITE = _list("""old small large great quiet dark empty clean beautiful new modern special famous
different dangerous lovely wonderful busy popular""")
JUDGED = _list("""good bad strange simple difficult dangerous important different special funny
serious perfect famous new popular wonderful terrible easy""")
SKY = _list("warm cold dark bright wonderful terrible beautiful nice good bad")
COLOR = _list("red green yellow black white brown purple")
FEEL = _list("""happy sad angry tired hungry busy ready sure late early sorry afraid alone sick well
quiet excited surprised proud nervous lucky safe""")
NAME = _list("""John Mary Susan David Thomas Michael Helen Robert Alice James Julia Henry Daniel
Jack Linda Paul Karen Steven Nancy Victor Walter""")
CITY = _list("""London Paris Boston Chicago Texas California England France Italy Germany Canada
Mexico Africa Europe America Japan China Spain India Russia Florida""")
WEEKDAY = _list("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTH = _list("""January February March April May June July August September October November
December""")
SEASON = _list("winter summer spring autumn")
UNIT = _list("minutes hours days weeks months years")
ADVERB = _list("""slowly quickly quietly carefully suddenly finally usually often again together
alone clearly easily always never""")
DEGREE = _list("very really so")
WHEN = _list("""today tomorrow yesterday tonight now later soon this-morning this-evening this-
afternoon next-week last-night last-week every-day after-dinner before-lunch at-noon at-midnight""")
SIDE = _list("near behind under across-from inside outside next-to in-front-of far-from close-to")
QUANTITY = _list("many some few several enough too-many more")

# (base, past, with -ing) of verbs which take a thing
VERB = [tuple(line.split()) for line in """open opened opening
close closed closing
watch watched watching
follow followed following
find found finding
carry carried carrying
paint painted painting
clean cleaned cleaning
repair repaired repairing
sell sold selling
remember remembered remembering
forget forgot forgetting
visit visited visiting
notice noticed noticing
hear heard hearing
see saw seeing
like liked liking
move moved moving
show showed showing
touch touched touching
reach reached reaching
leave left leaving
bring brought bringing
take took taking
make made making
keep kept keeping
hold held holding
build built building
break broke breaking
use used using
change changed changing
help helped helping
check checked checking
choose chose choosing
send sent sending
count counted counting
catch caught catching
enjoy enjoyed enjoying""".splitlines()]

# verbs which take nothing
ACT = [tuple(line.split()) for line in """walk walked walking
run ran running
sleep slept sleeping
wait waited waiting
work worked working
laugh laughed laughing
sing sang singing
dance danced dancing
speak spoke speaking
talk talked talking
swim swam swimming
travel traveled traveling
smile smiled smiling
play played playing
read read reading
study studied studying
cook cooked cooking
stop stopped stopping
listen listened listening
stay stayed staying
rest rested resting
drive drove driving
cry cried crying
shout shouted shouting
learn learned learning
write wrote writing
sit sat sitting
stand stood standing""".splitlines()]

ONES = _list("""zero one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen""")
TENS = _list("twenty thirty forty fifty sixty seventy eighty ninety")
ORDINAL = _list("first second third fourth fifth sixth seventh eighth ninth tenth twentieth")


def number(n):
    """Words of 0..100."""
    if n < 20:
        return ONES[n]
    if n == 100:
        return "one hundred"
    ten, one = divmod(n, 10)
    return TENS[ten - 2] + (" " + ONES[one] if one else "")
