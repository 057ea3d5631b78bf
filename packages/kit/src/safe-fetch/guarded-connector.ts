/**
 * The defence against requests into private networks: every new socket is checked here, with the
 * addresses that are really dialled.
 *
 * A name is resolved once; every address must be allowed, and exactly these addresses are dialled, so
 * that DNS rebinding between check and connect has no effect. SNI, certificate check and Host header
 * use the name. A pooled socket stays on the address that was checked.
 */
import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import { errorCode, ownAddress, SafeFetchError } from './error.ts'
import type { OwnTargets } from './own-addresses.ts'
import type { AddressPolicy } from './public-address.ts'

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface GuardOptions {
  permits: AddressPolicy
  resolve: Resolve
  connectTimeoutMs: number
  /** Certificate authorities in PEM, instead of Node's own. */
  ca?: string | readonly string[] | undefined
  /** Whether the connected address and port are the server's own. */
  isOwnAddress?: OwnTargets['isOwnAddress'] | undefined
  /** Creates the connector that is guarded; undici's unless given. */
  build?: typeof buildConnector
}

export function guardedConnector(options: GuardOptions): buildConnector.connector {
  const { permits, resolve, connectTimeoutMs, ca, isOwnAddress, build = buildConnector } = options
  const checkOwn = isOwnAddress && callbackify(isOwnAddress)
  const connect = build({
    lookup: guardedLookup(permits, resolve),
    timeout: connectTimeoutMs,
    autoSelectFamily: true,
    // The time for each address but the last; Node's default of 250 ms is too short for distant servers.
    autoSelectFamilyAttemptTimeout: 1_000,
    // When Node resumes a session it checks neither name nor expiry of the certificate again.
    maxCachedSessions: 0,
    ...(ca === undefined ? {} : { ca: typeof ca === 'string' ? ca : [...ca] }),
  })

  return (target, callback) => {
    const reject = (reason: 'blocked_address' | 'connection') =>
      callback(new SafeFetchError(reason), null)

    // `lookup` is not called for a literal address: without this check http://127.0.0.1 would pass.
    const { hostname } = target
    if (isIP(hostname) !== 0 && !permits(hostname, hostname)) {
      queueMicrotask(() => reject('blocked_address'))
      return
    }
    connect(target, (error, socket) => {
      if (error) {
        callback(error, null)
      } else if (socket.remoteAddress === undefined) {
        socket.destroy()
        reject('connection')
      } else if (!permits(socket.remoteAddress, hostname)) {
        socket.destroy()
        reject('blocked_address')
      } else if (!checkOwn) {
        callback(null, socket)
      } else {
        checkOwn(socket.remoteAddress, socket.remotePort ?? 0, (failed, isOwn) => {
          if (!failed && !isOwn) return callback(null, socket)
          socket.destroy()
          callback(failed ?? ownAddress(), null)
        })
      }
    })
  }
}

function guardedLookup(permits: AddressPolicy, resolve: Resolve): LookupFunction {
  const lookupAllowed = callbackify(resolveAllowed)
  return (hostname, { all }, callback) => {
    lookupAllowed(hostname, permits, resolve, (error, found) => {
      if (error) callback(error, '')
      else if (all) callback(null, found)
      else callback(null, found[0].address, found[0].family)
    })
  }
}

interface Resolved {
  address: string
  family: number
}

async function resolveAllowed(
  hostname: string,
  permits: AddressPolicy,
  resolve: Resolve,
): Promise<[Resolved, ...Resolved[]]> {
  const addresses = await resolve(hostname).catch((error: unknown) => {
    throw new SafeFetchError('dns', { code: errorCode(error) })
  })
  // All must be allowed: an attacker's name has a public address besides the private target.
  if (!addresses.every((address) => permits(address, hostname)))
    throw new SafeFetchError('blocked_address')
  const [first, ...rest] = addresses.map((address) => ({ address, family: isIP(address) }))
  if (first === undefined) throw new SafeFetchError('dns')
  return [first, ...rest]
}
