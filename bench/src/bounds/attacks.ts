// What hostile tenants and strangers do. An attack is one entry: it is measured alone and in the mix.

import type { Account } from './api.ts'
import type { Sink } from './sink.ts'

/** What attackers use. */
export interface Target {
  url: string
  /** Their own destination. */
  sink: Sink
  account(): Promise<Account>
}

export interface Attack {
  name: string
  /** Creates what the attack needs, and returns one round of it. */
  prepare(target: Target): Promise<() => Promise<unknown>>
  /** Rounds that run in parallel. */
  parallel: number
  /** Between two rounds in the mix; otherwise the attack would only meet rate limits. */
  pauseMs: number
  /** Also measures how long a script of another tenant takes during the attack. */
  delaysScripts?: true
}

const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** 256 KB with as many elements or members as possible. */
const ELEMENTS = `[${'1,'.repeat(131_000)}1]`
const MEMBERS = `{${repeat(20_000, (index) => `"n${index}":1`).join(',')}}`
const QUERY = 'a&'.repeat(4_000)

const wildcardMap = {
  type: 'field_map',
  rules: repeat(100, (index) => ({ from: '$[*]', to: `a${index}` })),
}
const choices = repeat(50, (index) => ({
  not: { path: '$[*]', operator: 'in', value: repeat(100, (choice) => index + choice + 2) },
}))
const queryConditions = repeat(50, () => ({ path: '$query.x', operator: 'not_exists' }))
const patterns = (seed: number) =>
  repeat(50, (index) => ({
    not: { path: '$.a', operator: 'regex', value: `${'abcdefgh'.repeat(30)}${seed}x${index}` },
  }))

/** A team's plan allows 50 connections on a source. */
const MAX_CONNECTIONS = 50

export const attacks: readonly Attack[] = [
  dryRun('dry run of a field map with 100 wildcards', {
    transform: wildcardMap,
    sample: { body: ELEMENTS },
  }),
  dryRun('dry run of a field map over many members', {
    transform: wildcardMap,
    sample: { body: MEMBERS },
  }),
  dryRun('dry run of 50 conditions with 100 choices', {
    filters: choices,
    sample: { body: ELEMENTS },
  }),
  dryRun('dry run of 50 patterns', { filters: patterns(0), sample: { body: '{"a":"a"}' } }),
  events('field maps on 50 connections', () => ({ transform: wildcardMap }), ELEMENTS),
  events('query conditions on 50 connections', () => ({ filters: queryConditions }), '{}', QUERY),
  events('patterns on 50 connections', (index) => ({ filters: patterns(index) }), '{"a":"a"}'),
  {
    name: 'large events with an id in their body',
    parallel: 10,
    pauseMs: 200,
    async prepare({ account, url }) {
      const owner = await account()
      const dedup = { by: 'path', path: '$.id' }
      const id = await owner.source({ dedup }, [])
      return () => accepted(post(`${url}/in/${id}`, MEMBERS))
    },
  },
  {
    name: 'list of 50 large connections',
    parallel: 2,
    pauseMs: 200,
    async prepare({ account }) {
      const owner = await account()
      const large = { filters: patterns(0), transform: wildcardMap }
      const id = await owner.source(
        {},
        repeat(MAX_CONNECTIONS, () => large),
      )
      return () => owner.call('GET', `/sources/${id}/connections`)
    },
  },
  {
    name: 'scripts that cannot be interrupted, of two accounts',
    delaysScripts: true,
    parallel: 1,
    pauseMs: 100,
    async prepare({ account }) {
      const code =
        'const text = "a".repeat(1e6); const transform = () => { for (;;) text.indexOf("b") }'
      const owners = [await account(), await account()]
      const rounds = await Promise.all(owners.map((owner) => dryRunOf(owner, scriptOf(code))))
      return () => Promise.all(rounds.map((round) => round()))
    },
  },
  {
    name: 'a connection that leads back to its source',
    parallel: 1,
    pauseMs: 1_000,
    async prepare({ account, sink, url }) {
      const owner = await account()
      const id = await owner.source({}, [{ destinationUrl: sink.url('/relay') }])
      sink.relay('/relay', `${url}/in/${id}`)
      return () => post(`${url}/in/${id}`, '{}')
    },
  },
  {
    name: 'made-up PayPal certificates',
    parallel: 5,
    pauseMs: 50,
    async prepare({ account, url }) {
      const owner = await account()
      const given = { provider: 'paypal', signingSecret: '1JE4291016473214C' }
      const id = await owner.source(given, [])
      let made = 0
      return () =>
        post(`${url}/in/${id}`, '{}', {
          'paypal-transmission-id': 'b2384410-f8d2-11e4-8bf3-77339302725b',
          'paypal-transmission-time': new Date().toISOString(),
          'paypal-transmission-sig': 'AAAA',
          'paypal-auth-algo': 'SHA256withRSA',
          'paypal-cert-url': `https://api.paypal.com/v1/notifications/certs/CERT-${++made}`,
        })
    },
  },
  stranger('bodies for a source that does not exist', 10, ({ url }) =>
    post(`${url}/in/src_0000000000000000`, ELEMENTS),
  ),
  stranger('sign-in attempts', 4, ({ url }) =>
    post(
      `${url}/ferryhook/v1/auth/login`,
      JSON.stringify({ email: 'attacker-1@example.com', password: 'wrong password' }),
    ),
  ),
  {
    name: 'events as fast as a tenant can send them',
    parallel: 20,
    pauseMs: 0,
    async prepare({ account, url }) {
      const owner = await account()
      const id = await owner.source({}, [{}])
      return () => accepted(post(`${url}/in/${id}`, '{"a":1}'))
    },
  },
]

function dryRun(name: string, request: object): Attack {
  const prepare = async ({ account }: Target) => dryRunOf(await account(), request)
  return { name, parallel: 4, pauseMs: 100, prepare }
}

/** A transform that runs the code on an empty body. */
export function scriptOf(code: string): object {
  return { transform: { type: 'javascript', code }, sample: { body: '{}' } }
}

export async function dryRunOf(owner: Account, request: object): Promise<() => Promise<unknown>> {
  const id = await owner.source({}, [])
  return () => owner.call('POST', `/sources/${id}/dry-run`, request)
}

/** One event for the largest number of connections. */
function events(
  name: string,
  connection: (index: number) => object,
  body: string,
  query = '',
): Attack {
  return {
    name,
    parallel: 2,
    pauseMs: 1_000,
    async prepare({ account, url }) {
      const owner = await account()
      const id = await owner.source({}, repeat(MAX_CONNECTIONS, connection))
      return () => accepted(post(`${url}/in/${id}?${query}`, body))
    },
  }
}

/** An attack without an account. */
function stranger(
  name: string,
  parallel: number,
  round: (target: Target) => Promise<unknown>,
): Attack {
  return { name, parallel, pauseMs: 50, prepare: async (target) => () => round(target) }
}

/** Rejects unless the event was stored. */
async function accepted(status: Promise<number>): Promise<void> {
  if ((await status) !== 200) throw new Error(`An event got ${await status}`)
}

/** Returns the status. */
async function post(
  url: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  await response.arrayBuffer()
  return response.status
}
