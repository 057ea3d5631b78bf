// @ts-nocheck: it runs with Node alone, without types.
// Makes a data directory with items of all five services, by the commands and the server of an earlier
// version of Strongroom in a clone of its own:
//
//   git clone . /tmp/earlier && git -C /tmp/earlier checkout COMMIT && npm ci --prefix /tmp/earlier
//   node packages/cli/test/upgrade/make-fixture.mjs /tmp/earlier OUTPUT
//
// OUTPUT gets data.tar.gz and known.json. Ids and keys are random, so that a second run makes another
// directory. Fixtures in the repository are never made again: an earlier build wrote them.
import { execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const MAX_POLLS = 100
const POLL_MS = 200
const COMMAND_TIMEOUT_MS = 60_000

const [clone, output] = process.argv.slice(2).map((path) => resolve(path))
if (clone === undefined || output === undefined) {
  throw new Error('Pass the clone of an earlier version and the output directory')
}
const launcher = join(clone, 'packages/cli/bin/strongroom.mjs')
const withAll = existsSync(join(clone, 'packages/cli/src/commands/slack.ts'))
const cwd = mkdtempSync(join(tmpdir(), 'strongroom-fixture-'))
const { PATH, HOME } = process.env
const env = {
  PATH,
  HOME,
  PORT: '0',
  FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  FERRYHOOK_ALLOW_HTTP: 'true',
  FORM_BRIDGE_ALLOWED_NETWORKS: '127.0.0.1/32',
  FORM_BRIDGE_ALLOW_HTTP: 'true',
  SEALED_DIFFICULTY: '4',
  STRONGROOM_LOG_LEVEL: 'warn',
  TWO_KEY_ALLOWED_NETWORKS: '127.0.0.0/8',
  TWO_KEY_ALLOW_HTTP: 'true',
}
const children = []

/** Starts a command that runs until it is stopped, and returns what it prints. */
async function start(args, more = {}) {
  const child = spawn(process.execPath, [launcher, ...args, '--json'], {
    cwd,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (printed += text))
  while (!printed.includes('\n}\n')) {
    if (child.exitCode !== null) throw new Error(`"${args.join(' ')}" ended`)
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  }
  return { ...JSON.parse(printed), child }
}

/** Not synchronous, because this process serves the WordPress site meanwhile. */
async function run(args, { input = '', ...more } = {}) {
  const child = spawn(process.execPath, [launcher, ...args, '--json'], {
    cwd,
    env: { ...env, ...more },
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: COMMAND_TIMEOUT_MS,
    // Without a terminal, so that nothing waits for a person.
    detached: true,
  })
  children.push(child)
  child.stdin.end(input)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (printed += text))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`"${args.join(' ')}" ended with ${code}`)
  return JSON.parse(printed)
}

async function post(url, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.json()
}

async function poll(isDone) {
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    if (await isDone()) return
    await sleep(POLL_MS)
  }
  throw new Error('Something that was expected did not happen')
}

/** A WordPress site that proves its domain as the plugin does, and a destination of events. */
let registration
const wordpress = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://site')
  if (pathname === '/delivered') return response.end()
  if (pathname === '/retried') return response.writeHead(503).end()
  const { registration_id: id, domain, temp_key: key } = registration
  const text = `verify.${searchParams.get('challenge')}.${id}.${domain}`
  response.end(JSON.stringify({ response: createHmac('sha256', key).update(text).digest('hex') }))
})

/** Versions that wrote format 1 have no Form-Bridge, no Two-key and no commands of Ferryhook. */
async function makeFormat1() {
  const server = await start(['serve'])
  const { url, version } = server
  const secret = `sealed by ${version}`
  const { link } = await run(['seal', '--ttl', '90d', '--server', url], { input: secret })
  await stop(server)
  const operator = await run(['operator', 'add', 'ada'])
  await run(['keys', 'create', '--id', 'tenant', '--context', 'tenant=one'])
  await run(['keys', 'rotate', 'tenant'])
  return { version, url, operatorToken: operator.token, link, secret }
}

async function makeAll() {
  wordpress.listen(0, '127.0.0.1')
  await once(wordpress, 'listening')
  const siteUrl = `http://127.0.0.1:${wordpress.address().port}`
  const slack = await start(['fake-slack', '--port', '0'])
  const server = await start(['serve'], { TWO_KEY_SLACK_API_URL: slack.slackApiUrl })
  const { url, version } = server

  const code = readFileSync(server.bootstrapFile, 'utf8').trim()
  const { token: operatorToken } = await post(`${url}/server/v1/bootstrap`, { code })
  const admin = { STRONGROOM_SERVER: url, STRONGROOM_TOKEN: operatorToken }
  await run(['operator', 'add', 'auditor', '--role', 'viewer'], admin)

  const secret = `sealed by ${version}`
  const { link } = await run(['seal', '--ttl', '90d'], { ...admin, input: secret })
  await run(['keys', 'create', '--id', 'tenant', '--context', 'tenant=one'], admin)
  await run(['keys', 'rotate', 'tenant'], admin)

  const about = { site_url: siteUrl, wp_version: '6.8', plugin_version: '1.0.0' }
  registration = await post(`${url}/form-bridge/v1/register`, about)
  const { registration_id, temp_key } = registration
  const exchange = { registration_id, temp_key, site_url: siteUrl }
  const site = await post(`${url}/form-bridge/v1/exchange`, exchange)

  const upstream = ['--upstream', `${siteUrl}/slack`]
  await run(['slack', 'app', 'add', 'demo', ...upstream], { ...admin, input: slack.signingSecret })
  await run(['slack', 'token', 'set', 'demo', slack.team], { ...admin, input: slack.botToken })

  const ferryhook = await makeEvent(url, siteUrl, version)
  await stop(server)
  return {
    version,
    url,
    operatorToken,
    link,
    secret,
    siteId: site.site_id,
    siteApiKey: site.api_key,
    siteDomain: site.domain,
    slackTeam: slack.team,
    ...ferryhook,
  }
}

/** One event that is delivered to the first connection, held by the second and retried by the third. */
async function makeEvent(url, siteUrl, version) {
  const { key: apiKey } = await run(['user', 'add', 'ada@example.com'])
  const owner = { STRONGROOM_SERVER: url, FERRYHOOK_API_KEY: apiKey }
  const signingSecret = 'github-secret'
  const withSecret = { ...owner, input: signingSecret }
  const { id: sourceId } = await run(['sources', 'add', 'Shop', '--provider', 'github'], withSecret)
  const connect = (name, path, ...more) =>
    run(['connections', 'add', 'Shop', siteUrl + path, '--name', name, ...more], owner)
  await connect('Delivered', '/delivered')
  const held = await connect('Held', '/held')
  await run(['connections', 'pause', 'Held'], owner)
  const retried = await connect('Retried', '/retried', '--retry', '0s,10m,10m')
  const body = JSON.stringify({ hello: `from ${version}` })
  const mac = createHmac('sha256', signingSecret).update(body).digest('hex')
  const headers = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${mac}` }
  const received = await fetch(`${url}/in/${sourceId}`, { method: 'POST', headers, body })
  if (!received.ok) throw new Error(`The event got ${received.status}`)
  let event
  await poll(async () => {
    const [{ id }] = await run(['events', 'list', 'Shop'], owner)
    event = await run(['events', 'show', id], owner)
    return event.deliveries.filter(({ attemptsMade }) => attemptsMade === 1).length === 2
  })
  return {
    apiKey,
    signingSecret,
    sourceId,
    eventId: event.id,
    body,
    heldSecret: held.signingSecret,
    retriedSecret: retried.signingSecret,
  }
}

async function stop({ child }) {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

try {
  const made = withAll ? await makeAll() : await makeFormat1()
  const { beaconKey } = await run([
    'keys',
    'beacon',
    'tenant',
    '--reveal',
    ...(withAll ? ['--local'] : []),
  ])
  const { format } = JSON.parse(readFileSync(join(cwd, 'data/format.json'), 'utf8'))
  const commit = execFileSync('git', ['-C', clone, 'rev-parse', 'HEAD'], {
    encoding: 'utf8',
  }).trim()
  const note = 'For tests only: nothing else uses these keys'
  const known = { note, commit, format, madeAt: new Date().toISOString(), ...made, beaconKey }
  mkdirSync(output, { recursive: true })
  const archive = join(output, 'data.tar.gz')
  const files = ['data.mdb', 'format.json', 'keys']
  execFileSync('tar', ['-czf', archive, '-C', join(cwd, 'data'), ...files])
  writeFileSync(join(output, 'known.json'), `${JSON.stringify(known, null, 2)}\n`)
  process.stdout.write(`${archive}: ${statSync(archive).size} bytes, format ${format}\n`)
} finally {
  for (const child of children) child.kill('SIGKILL')
  wordpress.closeAllConnections()
  wordpress.close()
  rmSync(cwd, { recursive: true })
}
