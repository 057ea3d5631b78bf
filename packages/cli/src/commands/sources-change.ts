/** `strongroom sources change`: another name, provider, signature or id of events. */
import { systemClock } from '@strongroom/kit/clock'
import type { Command } from '../command.ts'
import { accessIn, atFerryhook, ferryhookAt } from '../ferryhook/api.ts'
import { findSource } from '../ferryhook/find.ts'
import { refuseNothing } from '../ferryhook/nothing-to-change.ts'
import { refuseSecret, secretInOptions } from '../ferryhook/signing-secret.ts'
import { providersHelp, settingsIn, sourceSettings } from '../ferryhook/source-settings.ts'
import { sourceFacts } from '../ferryhook/source-text.ts'
import type { Source } from '../ferryhook/views.ts'

export const sourcesChange: Command = {
  name: 'sources change',
  args: 'SOURCE',
  summary: 'Change what a source is called, how it is verified, where the id of an event is',
  options: {
    name: { value: 'NAME', summary: 'What to call it' },
    ...sourceSettings,
    ...atFerryhook,
  },
  about: `SOURCE is an id, or a name that only one source has. What is not given stays as it is. A secret
replaces those in force at once: "strongroom sources rotate" leaves the sender time. To change how
a source is verified needs an API key with the permission admin.

${providersHelp}`,
  async run(input) {
    const { name, unsigned } = input.options
    const given = await secretInOptions(input)
    refuseSecret(given, input)
    const signingSecret = unsigned === true ? null : given
    const body = { name, signingSecret, ...(await settingsIn(input)) }
    refuseNothing('sources change', body)
    const ask = ferryhookAt(accessIn(input))
    const { id } = await findSource(ask, input.args[0] ?? '')
    const source = await ask<Source>('PATCH', `/sources/${id}`, body)
    input.output.result(sourceFacts(source, systemClock.now()), source)
  },
}
