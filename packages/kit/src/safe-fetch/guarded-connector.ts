/**
 * The defence: every new socket is checked here, on the addresses that are really dialled.
 *
 * A name is resolved once; every answer must be allowed, and exactly these answers are dialled, so
 * that a name cannot change its mind between check and connect (DNS rebinding). SNI, the check of
 * the certificate and the Host header keep the name. A pooled socket stays on the address that was
 * checked.
 */
import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import { errorCode, SafeFetchError } from './error.ts'
import type { AddressPolicy } from './public-address.ts'

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface GuardOptions {
  permits: AddressPolicy
  resolve: Resolve
  connectTimeoutMs: number
  /** Certificate authorities in PEM, instead of the ones that come with Node. */
  ca?: string | readonly string[] | undefined
  /** Makes the connector that is guarded: undici's, except in tests. */
  build?: typeof buildConnector
}

export function guardedConnector(options: GuardOptions): buildConnector.connector {
  const { permits, resolve, connectTimeoutMs, ca, build = buildConnector } = options
  const connect = build({
    lookup: guardedLookup(permits, resolve),
    timeout: connectTimeoutMs,
    autoSelectFamily: true,
    // Node gives each address but the last this long; its default of 250 ms loses far-away servers.
    autoSelectFamilyAttemptTimeout: 1_000,
    // Node does not look at the certificate again, neither name nor expiry, when it resumes a session.
    maxCachedSessions: 0,
    ...(ca === undefined ? {} : { ca: typeof ca === 'string' ? ca : [...ca] }),
  })

  return (target, callback) => {
    const refuse = (reason: 'blocked_address' | 'connection') =>
      callback(new SafeFetchError(reason), null)

    // A socket never asks `lookup` about a literal address: without this line http://127.0.0.1 passes.
    if (isIP(target.hostname) !== 0 && !permits(target.hostname)) {
      queueMicrotask(() => refuse('blocked_address'))
      return
    }
    connect(target, (error, socket) => {
      if (error) {
        callback(error, null)
      } else if (socket.remoteAddress === undefined) {
        socket.destroy()
        refuse('connection')
      } else if (!permits(socket.remoteAddress)) {
        socket.destroy()
        refuse('blocked_address')
      } else {
        callback(null, socket)
      }
    })
  }
}

function guardedLookup(permits: AddressPolicy, resolve: Resolve): LookupFunction {
  const allowedAnswers = callbackify(resolveAllowed)
  return (hostname, { all }, callback) => {
    allowedAnswers(hostname, permits, resolve, (error, answers) => {
      if (error) callback(error, '')
      else if (all) callback(null, answers)
      else callback(null, answers[0].address, answers[0].family)
    })
  }
}

interface Answer {
  address: string
  family: number
}

async function resolveAllowed(
  hostname: string,
  permits: AddressPolicy,
  resolve: Resolve,
): Promise<[Answer, ...Answer[]]> {
  const addresses = await resolve(hostname).catch((error: unknown) => {
    throw new SafeFetchError('dns', { code: errorCode(error) })
  })
  // One bad answer spoils all: an attacker's name has a public address beside the one it is after.
  if (!addresses.every(permits)) throw new SafeFetchError('blocked_address')
  const [first, ...rest] = addresses.map((address) => ({ address, family: isIP(address) }))
  if (first === undefined) throw new SafeFetchError('dns')
  return [first, ...rest]
}
