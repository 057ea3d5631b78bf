/** `strongroom burn`: destroys a secret that was handed out. */
import { patiently } from '@strongroom/sealed/client/patience'
import type { Command } from '../command.ts'
import { connect, connectionOptions, exitCodes, patienceSaying } from '../sealed/connection.ts'
import { managementLink } from '../sealed/link-argument.ts'

export const burnCommand: Command = {
  name: 'burn',
  args: '[MANAGEMENT-LINK]',
  summary: 'Destroy a secret with its management link',
  secretArgs: true,
  options: connectionOptions,
  about: `Without a link, or with "-", reads it from standard input. The server does not say whether there
was still something to destroy: it never does.

${exitCodes}`,
  async run(input) {
    const { base, id, burnToken } = await managementLink(input.args[0] ?? '-')
    const api = connect(base, input)
    await patiently(patienceSaying(input.output), () => api.burn(id, burnToken))
    input.output.result('The secret is destroyed, if it was still there\n', { burned: true })
  },
}
