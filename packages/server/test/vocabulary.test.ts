/**
 * Keeps words that a reader would have to decode out of file names and exported names. It reads
 * neither comments nor strings. Exceptions are in vocabulary.json, each with its reason.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import exceptions from './vocabulary.json' with { type: 'json' }

const packages = fileURLToPath(new URL('../../', import.meta.url))

/** Roles, states and phrases for which the industry has another word. */
const DENIED_WORDS = new Set(
  (
    'desk book ring teller keeper affairs house vault watch lane lanes judge verdict finding inquiry ' +
    'knowledge tally tallies letters mails trail trials affair notices crowd ' +
    'sweeping telling verifying lasting keeping settling judging answering ' +
    'written given tested shown seldom again gone away kept told worded folded packed screened ' +
    'refused swept scanned shaped overtaken whoever nobody somebody lately silence patience patiently'
  ).split(' '),
)

/** Beginnings of limits: a limit is MAX_… or MIN_… with a unit. */
const DENIED_BEGINNINGS = new Set(['most', 'longest', 'largest', 'shortest', 'deepest', 'fewest'])

/** Names that earlier code used for something that has a plain name now. */
const DENIED_NAMES = new Set(
  (
    'optimistically whileItChanges requireFit endingAfter ifLive earliestLive isLive livePage written ' +
    'closedFor isSigned payloadOf listenedPayload notSigned notSlacks notVerified dbOf ' +
    'evenAnswers keepSweeping silenceAfter patienceWith solveBeside holdable showShown sealingFoot ' +
    'plainRoutes PlainRoute PlainAnswer ErrorAnswer answerHeaders isLostAnswer together quiet ' +
    'acceptedOrFirst inPlace factsOf Abilities work byHost lookAtMasterKey isNowhere settingsIn limitsIn ' +
    'chosenIn forTerminal printable ageText counted refuseNothing theOne inWords keepToken ' +
    'DataLayer changeExpression monthOf monthAfter unwritable lifecycle DueWork giveBack endPart ' +
    'SearchedText searchFor inTimeRange stateBefore keepParts overstayWake failOverstayed ' +
    'sayingKeysAway laneEndOf healthOf scheduleOf retryAfter outgoingHeaders firstSecret rotatedList ' +
    'createFailureCap createOverdue chooseStep tellingOf testTelling noFigures addFigures latencyAt ' +
    'openEvents AccountEnd credentialsOf isOfPassword asUserGone guardsOf takenBy normalEmail ' +
    'hashOfNobody limitedWork TooMuchWork sameJson valueTest closedNode isPassing judgeAge timeOf ' +
    'sameBytes signingOf chainOf areInForce blindPut refusePathsIntoKeys picked loseNoAnswers mendOrphan ' +
    'isToBeRemoved textIn bytesIn contextIn explained foreign requireAsked createPlaces agencyJoin ' +
    'isTryingOut BadZip provedBefore proveNow signatureIn isSignatureOf joinTokenIn hashOf isWhole'
  ).split(' '),
)

const allowed: Record<string, string> = exceptions
const used = new Set<string>()

function sourceFiles(name: string): string[] {
  const src = join(packages, name, 'src')
  return readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(src, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
}

/** `createDueWork`, `DUE_WORK` and `due-work` are the words due and work. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase())
}

function exportedNames(source: string): string[] {
  const declared = source.matchAll(
    /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm,
  )
  const listed = source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)
  return [
    ...Array.from(declared, ([, name = '']) => name),
    ...Array.from(listed, ([, list = '']) => list.split(',')).flatMap((list) =>
      list.map((entry) => entry.trim().split(/\s+/).at(-1) ?? ''),
    ),
  ].filter(Boolean)
}

function isDenied(name: string): boolean {
  const words = wordsOf(name)
  const denied =
    DENIED_NAMES.has(name) ||
    DENIED_BEGINNINGS.has(words[0] ?? '') ||
    words.some((word) => DENIED_WORDS.has(word))
  if (denied && name in allowed) used.add(name)
  return denied && !(name in allowed)
}

describe('names', () => {
  test.each(readdirSync(packages))('of files in %s are plain', (name) => {
    const names = sourceFiles(name).flatMap((file) => file.replace(/\.tsx?$/, '').split('/'))
    expect([...new Set(names)].filter(isDenied)).toEqual([])
  })

  test.each(readdirSync(packages))('that %s exports are plain', (name) => {
    const names = sourceFiles(name).flatMap((file) =>
      exportedNames(readFileSync(join(packages, name, 'src', file), 'utf8')),
    )
    expect([...new Set(names)].filter(isDenied)).toEqual([])
  })

  test('on the list of exceptions exist', () => {
    expect(Object.keys(allowed).filter((name) => !used.has(name))).toEqual([])
  })
})
