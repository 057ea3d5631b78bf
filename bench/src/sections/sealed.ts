// Sealed as `strongroom serve` runs it, durable on disk, compared with a bare server with a Map: requests
// per CPU second of the server. Then races of twenty readers, and a test of response times.

import { fileURLToPath } from 'node:url'
import { type Call, Caller } from '../http/call.ts'
import { contender } from '../http/contender.ts'
import { ServerProcess } from '../http/server-process.ts'
import type { Options } from '../options.ts'
import { cpuTarget, limitTarget, type Result } from '../result.ts'
import { measureInTurns, median, pair } from '../rounds.ts'
import { bytes, createCall, draft, revealCall, type Secret, tokens } from '../sealed/requests.ts'
import { startSealed } from '../sealed/server.ts'
import { timingNotes, timings } from '../timing-leak.ts'
import type { Workspace } from '../workspace.ts'

const CONNECTIONS = 16
const ROUNDS = 7
/** Compiling thousands of lines takes some thousand requests. */
const WARM_UP_ROUNDS = 6
const PER_SECOND = 6000
const READERS = 20
const TRIALS = 200

const BARE = fileURLToPath(new URL('http/bare-server.js', import.meta.url))

export async function sealedSection(workspace: Workspace, options: Options): Promise<Result> {
  const sealed = await startSealed(workspace.directory())
  const bare = await ServerProcess.start([BARE])
  const caller = new Caller(sealed.url, CONNECTIONS)
  const bareCaller = new Caller(bare.url, CONNECTIONS)
  const count = Math.max(50, Math.round((PER_SECOND * options.seconds) / ROUNDS))
  const timing = {
    warmUpSeconds: options.seconds / ROUNDS,
    warmUpRounds: WARM_UP_ROUNDS,
    rounds: ROUNDS,
    seconds: options.seconds,
  }

  const made: Secret[] = []
  const bareMade: string[] = []
  const creates = await measureInTurns(
    [
      contender('sealed', sealed, CONNECTIONS, async (measured) => {
        const drafts = await tokens(caller, count, CONNECTIONS)
        const answers = await measured(caller, drafts.map(createCall), 201)
        made.push(...drafts)
        return answers
      }),
      contender('bare', bare, CONNECTIONS, async (measured) => {
        const calls = Array.from({ length: count }, () => createCall(draft('', '')))
        const bareCalls = calls.map((call) => ({ ...call, path: '/secrets' }))
        const answers = await measured(bareCaller, bareCalls, 201)
        bareMade.push(...answers.map(({ body }) => (JSON.parse(body) as { id: string }).id))
        return answers
      }),
    ],
    'create 1 KB',
    CONNECTIONS,
    timing,
  )
  const reveals = await measureInTurns(
    [
      contender('sealed', sealed, CONNECTIONS, (measured) =>
        measured(
          caller,
          made.splice(0, count).map((secret) => revealCall(secret)),
          200,
        ),
      ),
      contender('bare', bare, CONNECTIONS, (measured) =>
        measured(bareCaller, bareMade.splice(0, count).map(bareRevealCall), 200),
      ),
    ],
    'reveal 1 KB',
    CONNECTIONS,
    timing,
  )

  const lost = await trialsWithoutOneWinner(caller)
  const leak = await timingLeak(caller, options)
  caller.close()
  bareCaller.close()
  await sealed.close()
  await bare.close()
  return {
    title: 'Sealed, durable on disk, and a bare server with a Map',
    figures: [...creates, ...reveals],
    targets: [
      cpuTarget('Sealed, create per CPU second, share of the bare server', pair(creates), 45, '%'),
      cpuTarget('Sealed, reveal per CPU second, share of the bare server', pair(reveals), 30, '%'),
      limitTarget(
        `Sealed, races of ${READERS} readers without exactly one winner, of ${TRIALS}`,
        lost,
        0,
        'races',
      ),
    ],
    notes: leak,
    expectations: {
      secretsCreatedPerCpuSecond: 1_000_000 / median(pair(creates)[0].cpu),
      secretsReadPerCpuSecond: 1_000_000 / median(pair(reveals)[0].cpu),
    },
  }
}

/** The same body: it is parsed, and not looked at. */
function bareRevealCall(id: string): Call {
  return { ...revealCall(draft(id, '')), path: `/secrets/${id}/reveal` }
}

async function trialsWithoutOneWinner(caller: Caller): Promise<number> {
  let wrong = 0
  for (const secret of await tokens(caller, TRIALS, CONNECTIONS)) {
    // oxlint-disable-next-line no-await-in-loop -- one race after the other
    await caller.post(createCall(secret))
    const readers = Array.from({ length: READERS }, () => caller.post(revealCall(secret)))
    // oxlint-disable-next-line no-await-in-loop
    const won = (await Promise.all(readers)).filter(({ status }) => status === 200)
    if (won.length !== 1) wrong++
  }
  return wrong
}

/** Checks whether response times reveal the state of a secret to callers without the link. */
async function timingLeak(caller: Caller, options: Options): Promise<string[]> {
  const [waiting, consumed] = await tokens(caller, 2, CONNECTIONS)
  if (!waiting || !consumed) throw new Error('There are no tokens')
  await caller.post(createCall(waiting))
  await caller.post(createCall(consumed))
  await caller.post(revealCall(consumed))
  const guess = (id: string) => revealCall(draft(id, ''))
  return timingNotes(
    await timings(caller, Math.max(200, Math.round(1500 * options.seconds)), {
      missing: () => guess(bytes(16)),
      'there, without its link': () => guess(waiting.id),
      consumed: () => guess(consumed.id),
      'no id at all': () => guess('x'),
    }),
  )
}
