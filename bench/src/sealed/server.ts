// Sealed as `strongroom serve` runs it.

import { fileURLToPath } from 'node:url'
import { ServerProcess } from '../http/server-process.ts'

/** No work and no limits: what is measured is the server, not what it keeps away. */
const OPEN = {
  SEALED_DIFFICULTY: '0',
  SEALED_DIFFICULTY_PER_DOUBLING: '0',
  SEALED_TOKEN_LIMIT: '0',
  SEALED_REVEAL_LIMIT: '0',
  SEALED_BURN_LIMIT: '0',
}
const STRONGROOM = fileURLToPath(new URL('../../packages/cli/bin/strongroom.mjs', import.meta.url))

export function startSealed(directory: string): Promise<ServerProcess> {
  return ServerProcess.start([STRONGROOM, 'serve', '--only', 'sealed', '--port', '0', '--json'], {
    env: { ...OPEN, STRONGROOM_DATA: directory },
  })
}
