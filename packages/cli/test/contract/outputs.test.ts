/** What commands print with `--json`, as keys and types: scripts depend on it. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inProcess } from '../in-process.ts'
import { withoutNotices } from '../notices.ts'
import { emptyDirectory, start, strongroom } from '../strongroom.ts'
import { type Shape, shapeOf } from './shape.ts'

const networks = '127.0.0.0/8'

/** A program that responds to everything, and proves to Form-Bridge that it is the site. */
async function localProgram() {
  const pending = { temp_key: '', registration_id: '', domain: '' }
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x')
    const { temp_key, registration_id, domain } = pending
    const text = `verify.${searchParams.get('challenge')}.${registration_id}.${domain}`
    const mac = createHmac('sha256', temp_key).update(text).digest('hex')
    response.end(JSON.stringify({ response: mac }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pending }
}

describe('the --json output', () => {
  const shapes: Record<string, Shape> = {}
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the command prints
  const record = (name: string, stdout: string): any => {
    const value: unknown = JSON.parse(stdout)
    shapes[name] = shapeOf(value)
    return value
  }

  test('has these keys and types', async () => {
    const cwd = await emptyDirectory()
    const program = await localProgram()
    let env: Record<string, string> = {}
    /** Runs a command that is to succeed. */
    const run = async (name: string, args: string[] = [], stdin?: string) => {
      const line = [...name.split(' '), ...args, '--json']
      const { code, stdout, stderr } =
        stdin === undefined
          ? await inProcess(line, { cwd, env })
          : await strongroom(line, { cwd, env, stdin })
      expect([line, code, withoutNotices(stderr)]).toEqual([line, 0, ''])
      return record(name, stdout)
    }
    /** The document that a command prints when it has started. */
    const started = async (args: string[], more: Record<string, string> = {}) => {
      const running = start([...args, '--json'], { cwd, env: { ...env, ...more } })
      onTestFinished(() => void running.process.kill('SIGKILL'))
      return record(args[0] === 'kms' ? 'kms serve' : String(args[0]), await running.until('\n}\n'))
    }

    const slack = await started(['fake-slack', '--port', '0'])
    const releaseKey = join(cwd, 'release.key')
    const { publicKey } = await run('plugin keygen', ['--out', releaseKey])
    const served = await started(['serve'], {
      PORT: '0',
      SEALED_DIFFICULTY: '4',
      FERRYHOOK_ALLOWED_NETWORKS: networks,
      FERRYHOOK_ALLOW_HTTP: 'true',
      FORM_BRIDGE_ALLOW_HTTP: 'true',
      FORM_BRIDGE_ALLOWED_NETWORKS: networks,
      FORM_BRIDGE_RELEASE_KEYS: publicKey,
      TWO_KEY_SLACK_API_URL: slack.slackApiUrl,
      TWO_KEY_ALLOWED_NETWORKS: networks,
      TWO_KEY_ALLOW_HTTP: 'true',
    })
    const { url } = served
    const added = await run('user add', ['ada@example.com'])
    const code = (await readFile(served.bootstrapFile, 'utf8')).trim()
    const { token } = await run('operator claim', [code])
    env = {
      STRONGROOM_SERVER: url,
      STRONGROOM_TOKEN: token,
      FERRYHOOK_API_KEY: added.key,
    }

    await run('config')
    await run('tables create')
    await run('tables verify')
    await run('operator add', ['bob', '--local'])
    await run('operator rotate', ['bob', '--local'])
    await run('operator change', ['bob', '--role', 'viewer', '--expires', '1d', '--local'])
    await run('operator list', ['--local'])
    await run('operator bootstrap')
    await run('audit list', ['--local'])
    await run('audit verify', ['--local'])
    await run('operator remove', ['bob', '--local'])
    await run('secrets list', ['--local'])
    await run('kms status')
    await run('kms rotate')
    await run('kms master-key create', [join(cwd, 'other.key')])
    await run('kms audit verify')

    await run('keys create', ['--id', 'key', '--context', 'tenant=a'])
    await run('keys list')
    await run('keys show', ['key'])
    await run('keys beacon', ['key'])
    await run('keys rotate', ['key'])
    await run('keys rotate --all', ['--older-than', '0d'])

    await run('user list')
    await run('user failing')
    await run('user show', ['ada@example.com'])
    await run('user plan', ['ada@example.com', 'team'])
    await run('user invite')
    await run('user reset', ['ada@example.com'])
    await run('user add', ['bob@example.com', '--local'])
    await run('user remove', ['bob@example.com'])
    await run('api-keys create', ['CI'])
    await run('api-keys list')
    await run('api-keys revoke', ['CI'])

    const source = await run('sources add', ['Shop'])
    await run('sources list')
    await run('sources show', ['Shop'])
    await run('sources change', ['Shop', '--name', 'Store'])
    await run('sources pause', ['Store'])
    await run('sources resume', ['Store'])
    await run('connections add', ['Store', program.url, '--name', 'Books'])
    await run('connections list')
    await run('connections show', ['Books'])
    await run('connections change', ['Books', '--name', 'Ledger'])
    await run('connections test', ['Ledger'])
    await run('connections add', ['Store', 'test:200', '--name', 'Trial'])
    await run('connections test', ['Trial'])
    await run('connections requests', ['Trial'])
    await run('connections remove', ['Trial'])
    const sample = join(cwd, 'sample.json')
    await writeFile(sample, '{}')
    await run('connections dry-run', ['Ledger', '--sample', sample])
    await run('connections rotate', ['Ledger'])
    await run('alerts set', ['--webhook', program.url])
    await run('alerts show')
    await run('alerts test')
    await run('alerts rotate')
    const ids: string[] = []
    for (let number = 0; number < 4; number++) {
      const sent = await fetch(source.url, { method: 'POST', body: '{}' })
      ids.push(((await sent.json()) as { id: string }).id)
    }
    for (const id of ids) {
      await expect.poll(async () => (await run('events show', [id])).status).toBe('delivered')
    }
    await run('events list')
    await run('events replay', ids.slice(0, 1))
    const slowly = ['Store', '--since', '1h', '--per-second', '1', '--no-wait']
    const replay = await run('events replay --source', slowly)
    await run('replays cancel', [replay.id])
    await run('replays list')
    await run('connections pause', ['Ledger'])
    await run('connections resume', ['Ledger'])
    await run('connections remove', ['Ledger'])
    await run('sources remove', ['Store'])

    const post = async (path: string, body: object, bearer?: string) => {
      const headers = {
        'content-type': 'application/json',
        ...(bearer && { authorization: `Bearer ${bearer}` }),
      }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(`${url}/form-bridge/v1${path}`, init)
      return (await response.json()) as Record<string, string>
    }
    const site_url = program.url
    const given = { site_url, wp_version: '6.8', plugin_version: '1.0.0' }
    Object.assign(program.pending, await post('/register', given))
    const { registration_id, temp_key } = program.pending
    const { site_id = '' } = await post('/exchange', { registration_id, temp_key, site_url })
    await run('sites list')
    await run('sites show', [site_id])
    await run('sites keys', [site_id])
    await run('sites updates', [site_id])
    await run('sites check', [site_id])
    await run('sites destination', [site_id, 'https://crm.example.org/hooks'])
    await run('sites move', [site_id, 'https://new.example.org'])
    await run('sites suspend', [site_id])
    await run('sites resume', [site_id])
    await run('sites disable', [site_id])
    const zip = join(cwd, 'form-bridge.zip')
    const service = ['--service', `${url}/form-bridge`, '--public-key', publicKey]
    await run('plugin build', [...service, '--version', '1.2.0', '--out', zip])
    await run('plugin sign', [zip, '--key', releaseKey])
    await run('plugin publish', [zip])
    await run('plugin versions')
    await run('plugin show', ['1.2.0'])
    await run('plugin withdraw', ['1.2.0'])
    await run('adoption show')
    await run('adoption sites', ['1.2.0'])
    const contact = ['--email', 'office@example.com', '--max-sites', '5']
    const { agency_id, api_key } = await run('agencies add', ['Nine Sites', ...contact])
    const joined = await post('/agency/join-tokens', {}, api_key)
    Object.assign(program.pending, await post('/register', { ...given, join_token: joined.token }))
    const again = { registration_id: program.pending.registration_id, site_url }
    await run('registrations find', [], program.pending.temp_key)
    await post('/validate', { ...again, temp_key: program.pending.temp_key })
    await run('registrations validation', [again.registration_id])
    await run('registrations list')
    const member = await post('/exchange', { ...again, temp_key: program.pending.temp_key })
    await run('agencies list')
    await run('agencies show', [agency_id])
    await run('agencies change', [agency_id, '--max-sites', '6'])
    await run('agencies sites', [agency_id])
    await run('agencies role', [agency_id, member.site_id ?? '', 'viewer'])
    await run('agencies check', [agency_id])
    await run('agencies rotate', [agency_id])
    await run('rate-limits set', ['api', site_id, '--minute', '5'])
    await run('rate-limits list')
    await run('rate-limits usage', ['api', site_id])
    await run('rate-limits remove', ['api', site_id])
    const invalid = { ...given, site_url: 'http://10.0.0.1/' }
    for (let number = 0; number < 10; number++) await post('/register', invalid)
    const [abuse] = await run('abuse list')
    await run('abuse unblock', ['invalid_domains', abuse.identifier])
    await fetch(`${url}/form-bridge/v1/site`, { headers: { authorization: 'Bearer guess' } })
    await run('security-events list')

    const upstream = ['--upstream', program.url]
    const app = await run('slack app add', ['demo', ...upstream], slack.signingSecret)
    await run('slack token set', ['demo', slack.team], slack.botToken)
    await run('fake-slack send', ['message', app.url])
    await run('slack apps')
    await run('slack tokens', ['demo'])
    await run('slack decisions', ['demo'])
    await run('slack secret rotate', ['demo'], 'another-secret')
    await run('slack token remove', ['demo', slack.team])
    await run('slack app remove', ['demo'])

    const secret = join(cwd, 'secret.txt')
    await writeFile(secret, 'a secret')
    const sealed = await run('seal', ['--file', secret, '--receipt'])
    await run('receipt', [sealed.managementLink])
    // In a process: it writes to standard output itself.
    await run('open', [sealed.link], '')
    await run('burn', [sealed.managementLink])

    await run('secrets rotate', ['ferryhook-cursors', '--local'])
    const copy = join(cwd, 'copy')
    await run('backup', [copy, '--with-master-key'])
    env = {}
    await run('restore', [copy, '--data', join(cwd, 'restored')])
    await run('check', ['--data', join(cwd, 'restored')])
    await started(['worker', '--data', join(cwd, 'restored')])
    await started(['kms', 'serve', '--port', '0'], {
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
    })
    await started(['dynamodb', '--port', '0', '--data', join(cwd, 'dynamodb')])

    const names = Object.keys(shapes).toSorted()
    const ordered = Object.fromEntries(names.map((name) => [name, shapes[name]]))
    await expect(`${JSON.stringify(ordered, null, 2)}\n`).toMatchFileSnapshot(
      'snapshots/outputs.json',
    )
  })
})
