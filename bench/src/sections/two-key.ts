// Two-key: key one against Bolt's verification in the same process, key two from its memory, then a
// flood and an outage in simulated time. Slack is simulated in the process and responds immediately.

import { createHmac, randomBytes } from 'node:crypto'
import { verifySlackRequest } from '@slack/bolt'
import { systemClock } from '@strongroom/platform/clock'
import { createExistenceChecker } from '@strongroom/two-key/existence/checker'
import { createFakeSlack } from '@strongroom/two-key/fake-slack/fake-slack'
import { sampleTeam } from '@strongroom/two-key/fake-slack/fixtures'
import { createSignatureVerifier } from '@strongroom/two-key/signature'
import { measure } from '../measure.ts'
import type { Options } from '../options.ts'
import { type Target, limitTarget, rateTarget, type Result } from '../result.ts'
import { type Contender, type Figures, measureInTurns, median } from '../rounds.ts'
import type { Workspace } from '../workspace.ts'
import { simulateFlood, simulateOutage } from '../two-key-simulation.ts'

const BODY_BYTES = 600

export async function twoKeySection(_workspace: Workspace, options: Options): Promise<Result> {
  const timing = { warmUpSeconds: 0.5, rounds: 15, seconds: options.seconds }
  const signatures = await measureInTurns(
    signatureContenders(),
    `signature of ${BODY_BYTES} bytes`,
    1,
    timing,
  )
  const [decisions] = await measureInTurns([await cachedDecision()], 'cached decision', 1, timing)
  const [ours, bolt] = signatures
  if (!ours || !bolt || !decisions) throw new Error('All systems must be measured')
  const flood = await simulateFlood()
  const outage = await simulateOutage()
  return {
    title: 'Two-key and Bolt, in one process; a flood and an outage in simulated time',
    figures: [...signatures, decisions],
    targets: [
      rateTarget("Two-key, signature check of 600 bytes, times Bolt's rate", [ours, bolt], 3, '×'),
      cpuLimit('Two-key, cached decision, CPU', decisions, 20),
      limitTarget(
        'Two-key, requests of 50 real users rejected in a flood',
        flood.refused,
        0,
        'requests',
      ),
      limitTarget('Two-key, invented ids that passed', flood.passed, 0, 'requests'),
      limitTarget(
        'Two-key, calls of users.info in the busiest minute',
        flood.maxUsers,
        100,
        'calls',
      ),
      limitTarget(
        'Two-key, calls of conversations.info in the busiest minute',
        flood.maxChannels,
        50,
        'calls',
      ),
      limitTarget('Two-key, requests that passed in an outage', outage.passed, 0, 'requests'),
      limitTarget(
        'Two-key, longest decision in an outage, simulated',
        outage.longestMs,
        2000,
        'ms',
      ),
    ],
    notes: [
      `The flood had ${flood.decisions.toLocaleString('en')} decisions in ${flood.minutes} simulated minutes and took ${flood.seconds.toFixed(1)} s.`,
    ],
  }
}

function signatureContenders(): Contender[] {
  const signingSecret = randomBytes(16).toString('hex')
  const text = `token=x&text=${'x'.repeat(BODY_BYTES)}`.slice(0, BODY_BYTES)
  const body = Buffer.from(text)
  const timestamp = Math.floor(Date.now() / 1000)
  const hmac = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${text}`)
  const signature = `v0=${hmac.digest('hex')}`
  const headers = {
    'x-slack-signature': signature,
    'x-slack-request-timestamp': String(timestamp),
  }
  const isSigned = createSignatureVerifier(signingSecret)
  const boltHeaders = {
    'x-slack-signature': signature,
    'x-slack-request-timestamp': timestamp,
  }
  return [
    contender('strongroom', () => {
      if (isSigned({ rawBody: body, headers }, Date.now())) throw new Error('It is signed')
    }),
    // It throws if the signature is not right. Its receivers make a text of the bytes first.
    contender('Bolt', () => {
      verifySlackRequest({ signingSecret, body: body.toString(), headers: boltHeaders })
    }),
  ]
}

async function cachedDecision(): Promise<Contender> {
  const { fetch } = createFakeSlack()
  const checker = createExistenceChecker({ tokenOf: async () => sampleTeam.token, fetch })
  const ids = { team: sampleTeam.id, user: 'U00000001', channel: 'C00000001' }
  const check = async () => {
    const asked = { deadline: systemClock.now() + 2000, channelPolicy: 'strict' } as const
    const { ok } = await checker.check(ids, asked)
    if (!ok) throw new Error('They exist')
  }
  await check()
  return contender('strongroom', check)
}

function contender(name: string, call: () => unknown): Contender {
  return { name, measure: (concurrency, milliseconds) => measure(call, concurrency, milliseconds) }
}

function cpuLimit(text: string, { cpu }: Figures, microseconds: number): Target {
  return limitTarget(text, median(cpu), microseconds, 'µs')
}
