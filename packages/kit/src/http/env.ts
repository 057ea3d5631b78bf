import type { Log } from '../log.ts'
import type { Call, HttpRequest } from './request.ts'

/** What every handler finds in its context: `c.get('log')`, `c.get('call')`, … */
export interface AppVariables {
  call: Call
  request: HttpRequest
  /** Writes the request id on every line. */
  log: Log
  maxBodyBytes: number
  /** Why the body could not be read. */
  bodyError: unknown
}

export interface AppEnv {
  Variables: AppVariables
}
