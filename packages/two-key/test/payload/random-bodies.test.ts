import { testClock } from '@strongroom/kit/testing/test-clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Decision } from '../../src/decision.ts'
import type { SlackIds } from '../../src/slack-ids.ts'
import { twoKey, verifySlackRequest } from '../../src/verify.ts'
import { createFakeChecker } from '../support/fake-checker.ts'
import {
  blockActions,
  type Body,
  command,
  eventBody,
  message,
  viewSubmission,
} from '../support/samples.ts'
import {
  FORM,
  official,
  type Signed,
  signed,
  signedForm,
  signedJson,
  signedPayload,
} from '../support/signed.ts'

const numRuns = process.env['SLOW'] ? 20_000 : 1000
const ID = /^[A-Z0-9]{2,32}$/

async function decide(request: Signed): Promise<{ decision: Decision; asked: SlackIds[] }> {
  const checker = createFakeChecker()
  const keys = twoKey({ signingSecret: official.secret, checker, clock: testClock() })
  const decision = await verifySlackRequest(request, keys)
  return { decision, asked: checker.checks.map(({ ids }) => ids) }
}

function allIds({ otherTeams = [], ...ids }: SlackIds): readonly unknown[] {
  return [...Object.values(ids), ...otherTeams]
}

/** A random value of any depth, instead of the value that Slack sends. */
const strange = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('', 'U1#C1', '__proto__', 'C0OTHER', null, [], {}, { id: 'U2' }, { id: null }, [
    'U1',
  ]),
)

/** A copy in which the attribute at an existing path has another value. */
function changed(body: Body, turns: readonly number[], value: unknown): Body {
  const copy = structuredClone(body)
  let at: Record<string, unknown> = copy
  for (const turn of turns) {
    const names = Object.keys(at)
    const name = names[turn % names.length] ?? 'added'
    const next = at[name]
    if (typeof next !== 'object' || next === null || turn === turns.at(-1)) {
      at[name] = value
      break
    }
    at = next as Record<string, unknown>
  }
  return copy
}

/** A form has only strings. */
function asFields(body: Body): Record<string, string> {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, text(value)]))
}

describe('a signed request with any content', () => {
  const turns = fc.array(fc.nat(20), { minLength: 1, maxLength: 4 })

  test('is decided without an exception, and only valid ids are looked up', async () => {
    const bodies: readonly (readonly [Body, (body: Body) => Signed])[] = [
      [eventBody(message), signedJson],
      [blockActions, signedPayload],
      [viewSubmission, signedPayload],
      [command, (body) => signedForm(asFields(body))],
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...bodies),
        turns,
        strange,
        async ([body, sign], path, value) => {
          const { decision, asked } = await decide(sign(changed(body, path, value)))
          expect(asked.flatMap(allIds).every((id) => typeof id === 'string' && ID.test(id))).toBe(
            true,
          )
          expect(decision.ok || [400, 403].includes(decision.status)).toBe(true)
        },
      ),
      { numRuns },
    )
  })

  test('is decided too if it is arbitrary bytes', async () => {
    const contentType = fc.constantFrom('application/json', FORM, 'text/plain', '')
    const body = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
      fc.string().map((text) => Buffer.from(text)),
    )
    await fc.assert(
      fc.asyncProperty(body, contentType, async (bytes, type) => {
        const { decision } = await decide(signed(bytes, { contentType: type }))
        expect(decision.ok ? 200 : decision.status).toBeOneOf([200, 400, 403])
      }),
      { numRuns },
    )
  })
})
