/** Two-key is asked at a server always: decisions are in its memory. */
import type { CommandInput, CommandOption } from '../command.ts'
import { type Ask, operatorApi } from '../operator-api.ts'

const DEFAULT_SERVER = 'http://127.0.0.1:4280'

export const atServer: Readonly<Record<string, CommandOption>> = {
  server: {
    value: 'URL',
    summary: `Where the server is reached, with the token in STRONGROOM_TOKEN (${DEFAULT_SERVER})`,
  },
}

export function twoKeyAt(input: CommandInput): Ask {
  return operatorApi(input, 'two-key', String(input.options['server'] ?? DEFAULT_SERVER))
}
