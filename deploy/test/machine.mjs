// Runs inside a booted Debian: the commands of docs/install.md in order, and between them requests and
// checks. Writes what it observed to observed.json beside its plan; the test outside decides.
import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { promisify } from 'node:util'

const exec = promisify(execFile)
const here = new URL('./', import.meta.url).pathname
/** @type {{ setUp: string, start: string, operator: string, backup: string, worker: string, checks: Record<string, string> }} */
const plan = JSON.parse(readFileSync(`${here}plan.json`, 'utf8'))
const AUTHORITY = '/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt'
const TRUST = 'trust.example.com'
const SEALED = 'sealed.example.com'
const READY_ATTEMPTS = 120
const RETRY_MS = 250

/** @type {Record<string, unknown>} */
const observed = {}

/** @param {string} script @param {Record<string, string>} env */
async function shell(script, env = {}) {
  return exec('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: AUTHORITY, ...env },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error) => ({ code: error.code, stdout: error.stdout, stderr: error.stderr }),
  )
}

/** @param {string} script @param {Record<string, string>} env */
async function must(script, env = {}) {
  const { code, stdout, stderr } = await shell(script, env)
  if (code !== 0) throw new Error(`Ended with ${code}:\n${script}\n${stdout}${stderr}`)
  return String(stdout).trim()
}

/**
 * @param {string} host
 * @param {string} path
 * @param {{ method?: string, from?: string, headers?: Record<string, string> }} options
 * @returns {Promise<{ status: number, headers: import('node:http').IncomingHttpHeaders, body: string }>}
 */
function ask(host, path, { method = 'GET', from = '127.0.0.1', headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host, path, method, localAddress: from, headers, ca: readFileSync(AUTHORITY) },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text) => (body += text))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        )
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

async function untilReady() {
  for (let attempt = 0; attempt < READY_ATTEMPTS; attempt++) {
    const { status } = await ask(TRUST, '/readyz').catch(() => ({ status: 0 }))
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  throw new Error('The server did not become ready')
}

/** @param {string} unit */
async function unitState(unit) {
  const shown = await must(`systemctl show -p ActiveState,Result,ExecMainStatus ${unit}`)
  return Object.fromEntries(shown.split('\n').map((line) => line.split('=')))
}

try {
  for (const [name, script] of Object.entries(plan.checks)) observed[name] = await shell(script)

  await must(plan.setUp)
  // The only change: certificates of Caddy's own authority, because there is no domain.
  const caddyfile = readFileSync('/etc/caddy/Caddyfile', 'utf8')
  writeFileSync('/etc/caddy/Caddyfile', `{\n\tlocal_certs\n\tskip_install_trust\n}\n${caddyfile}`)
  await must(plan.start)
  await untilReady()

  observed.redirect = await must(
    `node -e "fetch('http://${TRUST}/', { redirect: 'manual' }).then((r) => console.log(r.status, r.headers.get('location')))"`,
  )
  const home = await ask(TRUST, '/')
  observed.home = { status: home.status, hsts: home.headers['strict-transport-security'] }
  observed.console = (await ask(TRUST, '/console/')).status
  observed.sealedPage = (await ask(SEALED, '/')).status
  observed.consoleOnSealed = (await ask(SEALED, '/console/')).status

  // The limit is 10 in a minute for each client; a header of the client itself must not change who it is.
  const tokens = []
  for (let count = 0; count < 11; count++) {
    const headers = { 'x-forwarded-for': `203.0.113.${count}` }
    tokens.push(
      (await ask(SEALED, '/v1/token', { method: 'POST', from: '127.0.0.2', headers })).status,
    )
  }
  observed.oneClient = tokens
  observed.otherClient = (
    await ask(SEALED, '/v1/token', { method: 'POST', from: '127.0.0.3' })
  ).status

  const token = await must(plan.operator)
  const env = { STRONGROOM_TOKEN: token, STRONGROOM_SERVER: `https://${TRUST}` }
  observed.bootstrapFile = statSync('/run/strongroom/bootstrap-code').mode & 0o777
  await must('strongroom user add ada@example.com', env)
  observed.status = JSON.parse((await shell('strongroom status --json', env)).stdout)
  observed.noCertificate = await shell('strongroom status --server https://other.example.com', {
    STRONGROOM_TOKEN: token,
  })

  const process = await must('systemctl show -p MainPID --value strongroom.service')
  const status = readFileSync(`/proc/${process}/status`, 'utf8')
  observed.process = Object.fromEntries(
    ['Uid', 'CapEff', 'NoNewPrivs', 'Seccomp'].map((name) => [
      name,
      new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1],
    ]),
  )

  await must(plan.backup)
  observed.backupFiles = await must("stat -c '%a %n' /var/lib/strongroom-backup/*")
  await untilReady()
  observed.usersAfterRestore = JSON.parse(await must('strongroom user list --json', env))

  await must(plan.worker)
  await untilReady()
  observed.worker = await unitState('strongroom-worker.service')
  observed.workerMetrics = (await fetch('http://127.0.0.1:9465/metrics')).status
  observed.serverMetrics = (await fetch('http://127.0.0.1:9464/metrics')).status

  await must('systemctl stop strongroom-worker.service strongroom.service')
  observed.stopped = {
    server: await unitState('strongroom.service'),
    worker: await unitState('strongroom-worker.service'),
  }
  observed.badGateway = (await ask(TRUST, '/')).status
  await must('mv /etc/strongroom/master.key /etc/strongroom/away')
  observed.noMasterKey = {
    ...(await shell('systemctl start strongroom.service')),
    ...(await unitState('strongroom.service')),
  }
} catch (error) {
  const { stdout } = await shell('journalctl --boot --no-pager | tail -60')
  observed.error = `${String(error)}\n${stdout}`
}
writeFileSync(`${here}observed.json`, JSON.stringify(observed, null, 2))
