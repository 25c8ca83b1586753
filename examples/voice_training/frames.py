"""Sentence frames. {WORD} is drawn from the class of that name (sentences.py); one frame a line."""

STATEMENTS = """the {MANNER} {PERSON} {PAST} the {SHAPE} {THING}.
the {PERSON} {PAST} the {THING} {ADVERB}.
{NAME} {PAST} the {COLOR} {THING} {SIDE} the {PLACE}.
I {PAST} the {THING} {WHEN}.
we {PAST} the {MANNER} {PERSON} {SIDE} the {PLACE}.
they {PAST} the {THING} and went home.
she {PAST} a {MANNER} {ANIMAL} in the {PLACE}.
he {PAST} the {ANIMAL} because it was {MANNER}.
there are {NUM} {THING}s on the table.
there are {NUM} {PERSON}s in the {PLACE}.
there is a {COLOR} {THING} {SIDE} the {PLACE}.
there was a {SITE} {PLACE} {SIDE} the {PLACE}.
{NAME} said that the {PLACE} was {SITE} and {SITE}.
{NAME} and {NAME} are going to {CITY} {WHEN}.
in {MONTH}, {NAME} and I went to {CITY}.
my {PERSON} lives {SIDE} the {PLACE}.
my {PERSON} does not like {FOOD}.
her {PERSON} bought {NUM} {THING}s in {CITY}.
the {PLACE} is {DEGREE} {SITE} in {SEASON}.
the {THING} is {SIDE} the {COLOR} {THING}.
the {ANIMAL} was {ACTING} {SIDE} the {PLACE}.
the {ANIMAL} and the {ANIMAL} are {ACTING} in the {PLACE}.
it is {DEGREE} {JUDGED} to {VERB} the {THING}.
it was {NUM} minutes past {HOUR}.
it is half past {HOUR} on {WEEKDAY}.
the {SHAPE} {THING} costs {NUM} dollars.
I will {VERB} the {THING} before {WEEKDAY}.
I would like some {FOOD} and a little {FOOD}.
I have been {ACTING} for {NUM} {UNIT}.
they have been waiting for {NUM} {UNIT}.
we will {VERB} the {THING} if it is {SHAPE}.
you can {VERB} it {ADVERB}, but you must not {VERB} the {THING}.
he was {FEEL}, so he {PAST} the {THING}.
she was {FEEL}, but she did not {ACT}.
the {PERSON} was {DEGREE} {FEEL} {WHEN}.
the {PERSON} talked about {TOPIC} and {TOPIC}.
nobody {PAST} the {COLOR} {THING} in the {PLACE}.
everybody likes the {MANNER} {PERSON} from {CITY}.
this is the {SHAPE} {THING} that {NAME} {PAST}.
that was the {ORDINAL} {IDEA} of the day.
the {ORDINAL} {THING} is {SHAPE}, and the {ORDINAL} one is {SHAPE}.
when the {PERSON} stopped, the {PLACE} became {SITE}.
every {PERSON} in the {PLACE} was {ACTING}.
the train to {CITY} leaves at {TIME}.
the bus from {CITY} comes at {TIME}.
the meeting starts at {TIME} on {WEEKDAY}.
my birthday is on the {ORDINAL} of {MONTH}.
we had {FOOD} and {FOOD} for {MEAL}.
the {FOOD} in this {PLACE} is {DEGREE} {SITE}.
I think that the {IDEA} is {DEGREE} {JUDGED}.
I know that your {PERSON} can {ACT} {ADVERB}.
he wants to {VERB} a {SHAPE} {THING} {WHEN}.
she needs {NUM} {THING}s and a {THING}.
we need to talk about the {IDEA} {WHEN}.
they wanted to {ACT} {SIDE} the {PLACE}.
{NAME} is {NUM} years old, and {NAME} is {NUM}.
the {PERSON} with the {COLOR} {THING} is my {PERSON}.
the weather in {CITY} is {SKY} and {SKY}.
it rained for {NUM} days in {MONTH}.
the {ANIMAL} slept under the {COLOR} {THING}.
we have a {ANIMAL}, a {ANIMAL}, and {NUM} {ANIMAL}s.
{NUM} and {NUM} make {NUM}.
the number of the {PLACE} is {NUM}.
we live at number {NUM}, {SIDE} the {PLACE}.
he gave me {NUM} {COLOR} {THING}s.
she put the {THING} in the {SHAPE} {THING}.
I found {NUM} dollars {SIDE} the {PLACE}.
the {PERSON} is {ACTING} with the {ANIMAL}.
both {PERSON}s were {DEGREE} {FEEL}.
{NAME} never {PAST} the {IDEA}.
{NAME} always {PAST} {FOOD} for the {PERSON}.
some {PERSON}s like {TOPIC}, and some like {TOPIC}.
the {IDEA} was {JUDGED}, but the {IDEA} was {JUDGED}.
the {PLACE} has {NUM} windows and {NUM} doors.
last {SEASON}, we {PAST} a {SITE} {PLACE}.
next {WEEKDAY}, they will visit {CITY}.
after {NUM} {UNIT}, the {PERSON} came back.
before {MEAL}, {NAME} was {ACTING} {SIDE} the {PLACE}.
on {WEEKDAY}, the {PERSON} {PAST} the {PLACE}.
at {TIME}, the {PLACE} was {SITE}.
{NAME} likes to {ACT} in the {PLACE}.
I do not know where the {COLOR} {THING} is.
I am {DEGREE} {FEEL}, and I want to {ACT}.
you are {DEGREE} {FEEL} {WHEN}.
we are {ACTING} {WHEN}, and you are {ACTING}.
the {PERSON} has a {MANNER} voice and {COLOR} eyes.
this {THING} is for {NAME}, and that one is for {NAME}.
your {THING} is {COLOR}, but mine is {COLOR}.
his {THING} is {SHAPE}, and her {THING} is {SHAPE}.
if you {VERB} the {THING}, I will {VERB} the {THING}.
if it is {SKY} {WHEN}, we can {ACT}.
the {MANNER} {ANIMAL} {PAST} the {MANNER} {ANIMAL}.
the {PERSON} from {CITY} speaks {DEGREE} {ADVERB}.
it takes {NUM} minutes to {VERB} the {THING}.
one hundred {PERSON}s live in this {PLACE}.
{NUM} hundred people came to the {PLACE}.
the {THING} fell down, and the {PERSON} {ACTED}.
the children are {ACTING} {SIDE} the {PLACE}.
the {PERSON} {ACTED} {ADVERB} {SIDE} the {PLACE}.
we {ACTED} together for {NUM} {UNIT}.
{NAME} {ACTED} in the {PLACE} {WHEN}.
the {PERSON} is {VERBING} the {SHAPE} {THING}.
{NAME} is {VERBING} a {THING} for the {PERSON}.
they were {VERBING} the {PLACE} {WHEN}.
I saw {QUANTITY} {THING}s and {QUANTITY} {ANIMAL}s.
there are {QUANTITY} {PERSON}s {SIDE} the {PLACE}.
the {SITE} {PLACE} of {CITY} is famous.
the night was {SKY}, but the morning is {SKY}.
the {COLOR} {ANIMAL} lives in the {PLACE}.
a {PERSON} and a {PERSON} are {ACTING} {WHEN}.
{TOPIC} is {DEGREE} {JUDGED}, but {TOPIC} is {JUDGED}.
this {IDEA} is about {TOPIC} and {TOPIC}.
the {PERSON} {PAST} my {IDEA} {WHEN}.
our {PERSON} works in the {PLACE} {SIDE} the {PLACE}.
{NAME} plays the {INSTRUMENT} {DEGREE} {ADVERB}.
my {PERSON} is a {PERSON} in {CITY}."""

QUESTIONS = """did you {VERB} the {SHAPE} {THING}?
do you like {FOOD} with {FOOD}?
do you want to {ACT} {WHEN}?
do your {PERSON}s like the {COLOR} {THING}?
why did the {MANNER} {PERSON} {VERB} my {THING}?
how many {THING}s do you have?
how much is the {COLOR} {THING}?
how long did you {ACT} in {CITY}?
how old is your {PERSON}?
where is the {PLACE} in {CITY}?
where did you {VERB} the {THING}?
what is the name of the {PERSON}?
what time does the {PLACE} open on {WEEKDAY}?
what did {NAME} {VERB} {WHEN}?
what do you think about the {IDEA}?
when will the {PERSON} {VERB} the {THING}?
when does the train leave for {CITY}?
do you know the {PERSON} with the {COLOR} {THING}?
can you {VERB} the {THING} for me?
can I have {NUM} {THING}s and some {FOOD}?
could you help me {VERB} the {THING}?
would you like some {FOOD} or some {FOOD}?
will you {ACT} with us {WHEN}?
is there a {PLACE} {SIDE} the {PLACE}?
is your {PERSON} {FEEL} {WHEN}?
are you {FEEL}, or are you {FEEL}?
are there {QUANTITY} {THING}s in the {PLACE}?
have you been to {CITY} in {MONTH}?
has {NAME} {PAST} the {THING} again?
was the {IDEA} {DEGREE} {JUDGED}?
should we {VERB} the {THING} before {MEAL}?"""

REQUESTS = """please {VERB} the {THING} and {VERB} the {THING}.
please wait {SIDE} the {PLACE} for {NUM} minutes.
please come to the {PLACE} at {TIME}.
good morning, {NAME}, would you like some {FOOD}?
good evening, {NAME}, how was your {IDEA}?
hello, my name is {NAME}, and I live in {CITY}.
thank you for the {SHAPE} {THING}, {NAME}.
let us {VERB} the {THING} with the {MANNER} {PERSON}.
let us meet at {TIME} {SIDE} the {PLACE}.
do not {VERB} the {SHAPE} {THING}, please.
never {VERB} a {MANNER} {ANIMAL}.
call me at {TIME}, or come to the {PLACE}.
tell {NAME} that the {IDEA} is {JUDGED}.
turn left at the {PLACE}, then turn right at the {PLACE}.
go to the {PLACE} and {VERB} a {THING}.
{ACT} {ADVERB}, and do not {ACT}.
welcome to {CITY}, ladies and gentlemen.
well, I am {FEEL}, but thank you, {NAME}.
sorry, {NAME}, I {PAST} your {THING}.
oh, the {ANIMAL} is {ACTING} {SIDE} the {PLACE}!
what a {SHAPE} {THING}, {NAME}!
be careful, the {THING} is {DEGREE} {SHAPE}!"""

SHORT = """yes, please.|no, thank you.|good morning.|good evening.|good night.|good afternoon.
hello.|hello, {NAME}.|thank you.|thank you, {NAME}.|see you {WHEN}.|how are you?|I am {FEEL}.
{NAME}.|{NAME} and {NAME}.|{CITY}.|{WEEKDAY}.|{MONTH}.|{NUM}.|{NUM}, {NUM}, {NUM}.|{TIME}.
the {THING}.|the {COLOR} {THING}.|a {SITE} {PLACE}.|{ANY}.|{ANY}.|{ANY}.|{ADVERB}.|very {JUDGED}!
{WHEN}.|who is it?|where is {NAME}?|why not?|what is that?|come in.|excuse me.|of course.
not {WHEN}.|in the {PLACE}.|{NUM} {UNIT}.|{NUM} dollars.|stop!|welcome.|goodbye.|goodbye, {NAME}.
{ACT} {ADVERB}.|{VERB} it.|maybe {WHEN}.|it is {COLOR}.|I like {FOOD}.|{QUANTITY} {THING}s."""
