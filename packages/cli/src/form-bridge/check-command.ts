/** `sites check` and `agencies check`: whether the indexes agree with the table. */
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import type { Command } from '../command.ts'
import { columns } from '../output.ts'
import { parseId } from './options.ts'

interface IndexCheck {
  consistent: boolean
  entries: { name: string; in_table: boolean; in_index: boolean }[]
}

export function checkCommand(word: 'sites' | 'agencies', args: 'SITE' | 'AGENCY'): Command {
  return {
    name: `${word} check`,
    kind: 'client',
    args,
    summary: 'Compare the indexes with the table',
    options: requiredServerOption,
    about: `Indexes follow the table within seconds. If they still differ later, an index is throttled or was
restored without its table. The exit code is then 1.`,
    async run(input) {
      const id = parseId(args, input.args[0])
      const api = createServiceClient(input, 'form-bridge')
      const check = await api<IndexCheck>('GET', `/${word}/${id}/indexes`)
      const rows = check.entries.map(({ name, in_table, in_index }) => [
        name,
        in_table === in_index ? 'agrees' : `only in the ${in_table ? 'table' : 'index'}`,
      ])
      input.output.result(columns(rows), check)
      return check.consistent ? 0 : 1
    },
  }
}
