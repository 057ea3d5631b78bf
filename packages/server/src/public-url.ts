import { isIPv6 } from 'node:net'
import type { Settings } from './settings.ts'

/** Where people reach the server that listens on this port. */
export function publicUrlOf({ PUBLIC_URL: told, HOST: host }: Settings, port: number): string {
  return told ?? `http://${reachable(host)}:${port}`
}

/** A host that a browser on this machine can open: "every address" is none. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}
