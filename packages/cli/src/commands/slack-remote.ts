/** Two-key is asked at a server always: decisions are in its memory. */
import type { CommandInput, CommandOption } from '../command.ts'
import { operatorApi } from '../operator-api.ts'
import { type Ask, serverIn, STANDARD_SERVER } from '../service-api.ts'

export const atServer: Readonly<Record<string, CommandOption>> = {
  server: {
    value: 'URL',
    summary: `Where the server is reached, with the token in STRONGROOM_TOKEN (${STANDARD_SERVER})`,
  },
}

export function twoKeyAt(input: CommandInput): Ask {
  return operatorApi(input, 'two-key', serverIn(input))
}
