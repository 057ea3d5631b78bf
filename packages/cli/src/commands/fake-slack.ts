/** `strongroom fake-slack`: a fake Slack API for development, and signed requests as Slack sends them. */
import { port as portType } from '@strongroom/kit/config-types'
import { listenFailure } from '@strongroom/kit/http/node'
import { createFakeSlack } from '@strongroom/two-key/fake-slack/fake-slack'
import { type FakeKind, fakeKinds, fakeRequest } from '@strongroom/two-key/fake-slack/requests'
import { serveFakeSlack } from '@strongroom/two-key/fake-slack/server'
import { sampleClient, sampleSecret, sampleTeam } from '@strongroom/two-key/fake-slack/fixtures'
import { parseUrl } from '@strongroom/kit/parse-url'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { reasonOf, serverUnusable } from '../api-client.ts'
import { stopSignal } from '../stop-signal.ts'

const DEFAULT_PORT = '8070'

const fakeSlack: Command = {
  name: 'fake-slack',
  kind: 'standalone',
  summary: 'Run a fake Slack API to develop and test against',
  options: {
    port: { value: 'PORT', summary: `Port of 127.0.0.1 to listen on (${DEFAULT_PORT})` },
    limits: { summary: "Enforce Slack's rate limits with 429" },
  },
  about: `It has one workspace, answers the calls that Two-key makes, and fails on demand:
  curl 127.0.0.1:${DEFAULT_PORT}/fake/faults -d '{"kind":"rate_limit","retryAfter":30}'
  curl 127.0.0.1:${DEFAULT_PORT}/fake/faults -d '{"kind":"hang","method":"users.info","times":1}'
  curl 127.0.0.1:${DEFAULT_PORT}/fake/faults -X DELETE
  curl 127.0.0.1:${DEFAULT_PORT}/fake/calls
Kinds of faults: hang, slow (ms), rate_limit (retryAfter), status (status), html, reset, error (error).`,
  async run({ options, output }) {
    const port = portType().parse(String(options['port'] ?? DEFAULT_PORT))
    if (port === undefined) throw usageError(`--port must be ${portType().expects}`)
    const stopped = stopSignal()
    const slack = createFakeSlack({ limits: options['limits'] === true })
    const server = await serveFakeSlack(slack, port).catch((error: NodeJS.ErrnoException) => {
      throw listenFailure(error, '127.0.0.1', port)
    })
    const { token, id, users = [], channels = [] } = sampleTeam
    const known = {
      slackApiUrl: server.url,
      botToken: token,
      signingSecret: sampleSecret,
      clientId: sampleClient.id,
      clientSecret: sampleClient.secret,
      team: id,
      users: users.filter(({ deleted }) => !deleted).map((user) => user.id),
      channels: channels.filter(({ visible = true }) => visible).map((channel) => channel.id),
    }
    output.result(
      `
A fake Slack on ${server.url}

  Bot token       ${token}
  Signing secret  ${sampleSecret}
  Client id       ${sampleClient.id}
  Client secret   ${sampleClient.secret}
  Team            ${id}
  Users           ${known.users.join(' ')}
  Channels        ${known.channels.join(' ')}

Press Ctrl+C to stop.
`,
      known,
    )
    await stopped
    await server.close()
  },
}

const fakeSlackSend: Command = {
  name: 'fake-slack send',
  kind: 'standalone',
  args: 'KIND URL',
  summary: 'Send a signed request to an app, as Slack does',
  options: {
    team: { value: 'TEAM', summary: `The team (${sampleTeam.id})` },
    user: { value: 'USER', summary: 'The user (U00000001)' },
    channel: { value: 'CHANNEL', summary: 'The channel (C00000001)' },
    text: { value: 'TEXT', summary: 'Message text (hello)' },
    name: { value: 'NAME', summary: 'Name of the command, action, shortcut or view (fake)' },
  },
  about: `KIND is one of ${fakeKinds.join(', ')}. Signs it with
SLACK_SIGNING_SECRET of the environment, or with the secret of the fake Slack. Prints the response;
exits with 1 unless it is 2xx.
  strongroom fake-slack send command http://127.0.0.1:3000/slack/events --name deploy --user U0INVENTED`,
  async run(input) {
    const { kind, url } = parseTarget(input)
    const { options, env } = input
    const request = fakeRequest(kind, {
      signingSecret: env['SLACK_SIGNING_SECRET'] || sampleSecret,
      nowMs: Date.now(),
      ...Object.fromEntries(
        ['team', 'user', 'channel', 'text', 'name'].flatMap((name) =>
          typeof options[name] === 'string' ? [[name, options[name]]] : [],
        ),
      ),
    })
    const response = await fetch(url, { method: 'POST', ...request }).catch((error: unknown) => {
      throw serverUnusable(
        `Cannot reach ${url.origin} (${reasonOf(error)}): start the app, or correct the address`,
      )
    })
    const { status } = response
    const body = await response.text()
    input.output.result(`${`${status} ${body}`.trimEnd()}\n`, { status, body })
    return response.ok ? 0 : 1
  },
}

function parseTarget({ args: [kind = '', url = ''] }: CommandInput): { kind: FakeKind; url: URL } {
  const found = fakeKinds.find((each) => each === kind)
  if (!found) throw usageError(`KIND must be one of ${fakeKinds.join(', ')}`)
  const target = parseUrl(url)
  if (!target || !/^https?:$/.test(target.protocol)) {
    throw usageError('URL must be an http or https URL, such as http://127.0.0.1:3000/slack/events')
  }
  return { kind: found, url: target }
}

export const commands: readonly Command[] = [fakeSlack, fakeSlackSend]
