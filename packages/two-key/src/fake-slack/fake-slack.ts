/**
 * A fake of Slack's Web API for development and tests. It has the methods that key two calls, and fails
 * on demand in every way that Slack does. `fetch` calls it in process; `server.ts` serves it over HTTP.
 */
import { type Clock, systemClock } from '@strongroom/platform/clock'
import {
  type ActiveFault,
  createFaults,
  respondWithFault,
  rateLimited,
  systemWait,
  type Wait,
} from './faults.ts'
import { methods, type SlackArguments } from './methods.ts'
import { createFakeOAuth } from './oauth.ts'
import { allScopes, type FakeClient, type FakeTeam, sampleClient, sampleTeam } from './fixtures.ts'

export interface FakeSlackOptions {
  /** The apps that can be installed; by default that of the sample workspace. */
  clients?: readonly FakeClient[]
  /** The workspaces; by default a sample workspace. */
  teams?: readonly FakeTeam[]
  /** Apply Slack's rate limits, with a 429 beyond them. */
  limits?: boolean
  clock?: Clock
  wait?: Wait
}

export interface FakeCall {
  method: string
  args: SlackArguments
}

export interface FakeSlack {
  /** Replaces the global `fetch`; the host of the URL does not matter. */
  fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** The last 10,000 calls, of one method or of all. */
  calls(method?: string): readonly FakeCall[]
  /** Adds a fault for the following calls. */
  break(fault: ActiveFault): void
  /** Removes all faults. */
  repair(): void
  /**
   * What a person's browser does at Slack's page of an installation: agrees for a workspace, by default
   * the first, or cancels. Returns the address that Slack redirects to.
   */
  authorize(url: string, choice?: { team?: string; isCancelled?: boolean }): string
  /** Replaces or adds a workspace. */
  setTeam(team: FakeTeam): void
}

const MAX_CALLS = 10_000

export function createFakeSlack(options: FakeSlackOptions = {}): FakeSlack {
  const { clock = systemClock, wait = systemWait } = options
  const teams = new Map((options.teams ?? [sampleTeam]).map((team) => [team.id, team]))
  const faults = createFaults()
  const windows = new Map<string, { minute: number; calls: number }>()
  let calls: FakeCall[] = []
  const oauth = createFakeOAuth({ clients: options.clients ?? [sampleClient], teams })

  /** Seconds until the method may be called again; undefined if it may be called now. */
  function limitOf(team: FakeTeam, method: string, perMinute: number): number | undefined {
    const minute = Math.floor(clock.now() / 60_000)
    const key = `${team.id} ${method}`
    const found = windows.get(key)
    const current = found?.minute === minute ? found : { minute, calls: 0 }
    windows.set(key, current)
    if (++current.calls <= perMinute) return undefined
    return Math.max(1, 60 - Math.floor((clock.now() % 60_000) / 1000))
  }

  async function respond(request: Request, signal: AbortSignal | undefined): Promise<Response> {
    const name = new URL(request.url).pathname.split('/').at(-1) ?? ''
    const { token, args, client } = await argumentsOf(request)
    if (name === 'authorize')
      return new Response(null, {
        status: 302,
        headers: { location: oauth.authorize(request.url, args) },
      })
    calls.push({ method: name, args })
    if (calls.length > 2 * MAX_CALLS) calls = calls.slice(-MAX_CALLS)

    const fault = faults.take(name)
    const failed = fault && (await respondWithFault(fault, wait, signal))
    if (failed) return failed
    if (name === 'oauth.v2.access') return Response.json(oauth.access(args, client))
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined
    if (!method) return Response.json({ ok: false, error: 'unknown_method' })
    if (!token) return Response.json({ ok: false, error: 'not_authed' })
    const team = [...teams.values()].find((each) => each.token === token)
    if (!team) return Response.json({ ok: false, error: 'invalid_auth' })
    const seconds = options.limits ? limitOf(team, name, method.perMinute) : undefined
    if (seconds !== undefined) return rateLimited(seconds)
    return Response.json(method.answer(team, args), {
      headers: { 'x-oauth-scopes': (team.scopes ?? allScopes).join(',') },
    })
  }

  return {
    async fetch(input, init) {
      const request = new Request(input, init)
      const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
      if (signal?.aborted) throw signal.reason
      return respond(request, signal ?? undefined)
    },
    calls: (method) => calls.filter((call) => method === undefined || call.method === method),
    break: (fault) => faults.add(fault),
    repair: () => faults.clear(),
    authorize: (url, { team, isCancelled } = {}) =>
      oauth.authorize(url, {
        ...(team !== undefined && { team }),
        ...(isCancelled && { cancel: '1' }),
      }),
    setTeam: (team) => void teams.set(team.id, team),
  }
}

/** Slack accepts arguments in the query, as a form and as JSON. */
async function argumentsOf(
  request: Request,
): Promise<{ token: string; args: SlackArguments; client: string | undefined }> {
  const query = new URL(request.url).searchParams
  const body = await request.text()
  const isJson = request.headers.get('content-type')?.includes('json') === true
  const sent = isJson && body !== '' ? jsonEntries(body) : [...new URLSearchParams(body)]
  const { token: inBody, ...args } = Object.fromEntries([...query, ...sent])
  const authorization = request.headers.get('authorization') ?? ''
  const [, bearer] = /^Bearer (.+)$/.exec(authorization) ?? []
  const [, client] = /^Basic (.+)$/.exec(authorization) ?? []
  return { token: bearer ?? inBody ?? '', args, client }
}

function jsonEntries(body: string): [string, string][] {
  const value: unknown = JSON.parse(body)
  return Object.entries(value ?? {}).map(([name, each]) => [name, String(each)])
}
