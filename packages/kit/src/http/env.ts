import type { Log } from '../log.ts'
import type { ProxyTrust } from './trusted-proxies.ts'

/** What every handler finds in its context: `c.get('log')`, `c.get('requestId')`, … */
export interface AppVariables {
  requestId: string
  /** Has the request id on every line. */
  log: Log
  /** The service that the request is for, `server` where it is none. */
  service: string
  proxies: ProxyTrust
  /** The machine at the other end of the connection. */
  peer: string | undefined
  /** The code of the error that was answered. */
  errorCode: string | undefined
  /** Fires when the time of the request is over; only behind `timeout(…)`. */
  signal: AbortSignal | undefined
  /** How large the body of this request may be. */
  maxBodyBytes: number
}

export interface AppEnv {
  Variables: AppVariables
}
