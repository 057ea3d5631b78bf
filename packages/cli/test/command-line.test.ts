import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, inject, test } from 'vitest'
import { commands } from '../src/run.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, strongroom } from './strongroom.ts'

describe('strongroom on the command line', () => {
  test.each([[], ['--help'], ['-h'], ['help']])('lists its commands for "%s"', async (...args) => {
    const { code, stdout, stderr } = await inProcess(args)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('Usage\n  strongroom COMMAND [OPTIONS]')
    for (const command of ['serve', 'config', 'tables create', 'operator add NAME']) {
      expect(stdout).toMatch(new RegExp(`^  ${command} +\\S`, 'm'))
    }
    expect(stdout).toContain('Exit codes: 0 success, 1 failure, 2 invalid command line')
  })

  test('shows its version', async () => {
    expect((await strongroom(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('shows the arguments and options of a command', async () => {
    const { stdout } = await inProcess(['serve', '--help'])
    expect(stdout).toContain('strongroom serve [OPTIONS]')
    expect(stdout).toMatch(/--only SERVICE +Run only this service/)
  })

  test('wraps help between words on a terminal of any width', async () => {
    for (const args of [['--help'], ['connections', 'add', '--help'], ['seal', '--help']]) {
      const { stdout: whole } = await inProcess(args)
      for (const width of [40, 80]) {
        const { stdout } = await inProcess(args, { width })
        expect(stdout.split(/\s+/)).toEqual(whole.split(/\s+/))
        const tooLong = stdout.split('\n').filter((line) => line.length > width)
        expect(tooLong.filter((line) => line.trim().includes(' '))).toEqual([])
      }
    }
  })

  test('finds every command by its first word', async () => {
    for (const [word, load] of Object.entries(commands)) {
      for (const { name } of await load()) {
        expect(name.split(' ')[0]).toBe(word)
        const { code, stdout } = await inProcess([...name.split(' '), '--help'])
        expect([code, stdout]).toEqual([0, expect.stringContaining(`strongroom ${name} `)])
      }
    }
  })

  // A bundle in chunks may run them in another order than the sources.
  test.runIf(process.env['SLOW'])('loads every command by itself, as it is bundled', async () => {
    for (const word of Object.keys(commands)) {
      const { code, stderr } = await strongroom([word, '--help'])
      expect([word, code, stderr]).toEqual([word, 0, ''])
    }
  })

  test('shows the commands of a group', async () => {
    const { code, stdout } = await inProcess(['tables'])
    expect(code).toBe(0)
    expect(stdout).toContain('tables verify')
    expect(stdout).not.toContain('operator')
    for (const help of [[], ['--help']]) {
      const inner = await inProcess(['kms', 'passphrase', ...help])
      expect(inner).toMatchObject({ code: 0, stderr: '' })
      expect(inner.stdout).toContain('kms passphrase change')
      expect(inner.stdout).not.toContain('kms rotate')
    }
  })

  test.each([
    [
      ['tabels', 'create'],
      'Unknown command "tabels create": did you mean "strongroom tables create"?',
    ],
    [['nonsense'], 'Unknown command "nonsense": run "strongroom --help"'],
    [['sources', 'frob'], 'Unknown command "sources frob": run "strongroom sources --help"'],
    [['--json'], 'No command given: run "strongroom --help"'],
    [['--nonsense'], 'Unknown option --nonsense: run "strongroom --help"'],
    [['serve', '--prot', '1'], 'Unknown option \'--prot\': run "strongroom serve --help"'],
    [
      ['events', 'list', '--since', '-5d'],
      'Option \'--since\' argument is ambiguous: run "strongroom events list --help"',
    ],
    [['serve', '--port='], '--port has no value: pass PORT, or omit it'],
    [['events', 'replay', '--to', ''], '--to has no value: pass CONNECTION, or omit it'],
    [['open', ''], '"strongroom open" needs LINK: run "strongroom open --help"'],
    [
      ['slack', 'token', 'set', 'app', ''],
      '"strongroom slack token set" needs APP TEAM: run "strongroom slack token set --help"',
    ],
    [['serve', 'now'], '"strongroom serve" takes no "now": run "strongroom serve --help"'],
    [
      ['operator', 'add'],
      '"strongroom operator add" needs NAME: run "strongroom operator add --help"',
    ],
    [
      ['operator', 'add', 'one', 'two'],
      '"strongroom operator add" takes no "two": run "strongroom operator add --help"',
    ],
    [
      ['serve', '--only', 'nothing'],
      'There is no service "nothing": choose from sealed, ferryhook, form-bridge, key-store, two-key',
    ],
    [['serve', '--only', 'keystore'], 'There is no service "keystore": did you mean key-store?'],
  ])('reports "%s" in one line', async (args, line) => {
    const { code, stdout, stderr } = await inProcess(args)
    const document = { error: { code: 'usage', message: line } }
    const printed = args.includes('--json') ? `${JSON.stringify(document)}\n` : ''
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: printed, stderr: `${line}\n` })
  })

  test('prints an error as a JSON document with its code for --json', async () => {
    const wrong = await strongroom(['nonsense', '--json'])
    const message = 'Unknown command "nonsense": run "strongroom --help"'
    expect([wrong.code, wrong.stderr]).toEqual([2, `${message}\n`])
    expect(JSON.parse(wrong.stdout)).toEqual({ error: { code: 'usage', message } })
    const cwd = await emptyDirectory()
    await inProcess(['tables', 'create'], { cwd })
    const missing = await inProcess(['operator', 'remove', 'nobody', '--json'], { cwd })
    expect(missing.code).toBe(1)
    expect(JSON.parse(missing.stdout)).toEqual({
      error: {
        code: 'operator.not_found',
        message: 'Operator not found. See "strongroom operator list".',
      },
    })
  })

  test('exits with the code of the error', async () => {
    const line = 'Unknown command "nonsense": run "strongroom --help"'
    expect(await strongroom(['nonsense'])).toEqual({ code: 2, stdout: '', stderr: `${line}\n` })
  })

  test('accepts options before the command', async () => {
    const [before, after] = [
      ['--json', 'config'],
      ['config', '--json'],
    ]
    expect(await inProcess(before)).toEqual(await inProcess(after))
  })

  test('lists the settings with their values, for people and for programs', async () => {
    const env = { PORT: '5000' }
    expect((await inProcess(['config'], { env })).stdout).toMatch(/^PORT {2}\(= 5000\)$/m)
    const { stdout } = await inProcess(['config', '--json'], { env })
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ name: 'PORT', value: 5000, default: '4280' }),
    )
  })

  test('prints the CloudFormation template of all tables, with the prefix as a parameter', async () => {
    const { stdout } = await inProcess(['tables', 'cloudformation'], {
      env: { STRONGROOM_TABLE_PREFIX: 'dev-' },
    })
    const { Parameters, Resources } = JSON.parse(stdout)
    expect(Parameters.Prefix.Default).toBe('dev-')
    expect(Resources.StrongroomServer.Properties.TableName).toEqual({
      'Fn::Sub': '${Prefix}strongroom-server',
    })
  })

  test('prints the template of Sealed alone with the resource and outputs of its specification', async () => {
    const { stdout } = await inProcess(['tables', 'cloudformation', '--only', 'sealed'])
    const { Resources, Outputs } = JSON.parse(stdout)
    // A server also needs operators, the audit log and branch keys.
    expect(Object.keys(Resources).toSorted()).toEqual([
      'SecretsTable',
      'StrongroomBranchKeys',
      'StrongroomOperations',
      'StrongroomServer',
    ])
    expect(Outputs.TableName.Value).toEqual({ Ref: 'SecretsTable' })
    expect(Outputs.TableArn.Value).toEqual({ 'Fn::GetAtt': ['SecretsTable', 'Arn'] })
    const wrong = await inProcess(['tables', 'cloudformation', '--only', 'seeled'])
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('There is no service "seeled": did you mean sealed?'),
    ])
  })

  test('prints the IAM policy of a server, which creates tables only if asked', async () => {
    const env = {
      STRONGROOM_TABLE_PREFIX: 'dev-',
      KMS_KEY_ARN: 'arn:aws:kms:eu-central-1:111122223333:key/abc',
    }
    const { stdout } = await inProcess(['tables', 'policy'], { env })
    expect(stdout).toContain(
      '"arn:aws:dynamodb:eu-central-1:111122223333:table/dev-strongroom-server"',
    )
    expect(stdout).toContain(`"${env.KMS_KEY_ARN}"`)
    expect(stdout).not.toContain('CreateTable')
    expect((await inProcess(['tables', 'policy', '--create'], { env })).stdout).toContain(
      '"dynamodb:CreateTable"',
    )
    expect((await inProcess(['tables', 'policy'])).stdout).toContain(
      '"arn:aws:dynamodb:*:*:table/strongroom-server"',
    )
  })
})

describe('a failed start prints one line and creates nothing', () => {
  async function failure(env: Record<string, string>, run = inProcess) {
    const cwd = await emptyDirectory()
    const { code, stdout, stderr } = await run(['serve'], { cwd, env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(await readdir(cwd)).toEqual([])
    return stderr
  }

  test('if the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    expect(await failure({ PORT: String(port) })).toBe(
      `Port ${port} of 127.0.0.1 is in use: stop what uses it, or choose another port\n`,
    )
    other.close()
  })

  test('if a setting is invalid', async () => {
    expect(await failure({ PORT: 'http' })).toBe(
      'The configuration is not valid\n  PORT must be a whole number from 0 to 65535, but is "http"\n',
    )
  })

  test('if a setting does not exist', async () => {
    expect(await failure({ STRONGROOM_DATE: '/tmp' })).toContain(
      'STRONGROOM_DATE is not a setting: did you mean STRONGROOM_DATA?',
    )
  })

  test('if the host is not an address of this machine', async () => {
    expect(await failure({ HOST: '192.0.2.1', PORT: '0' })).toBe(
      '192.0.2.1 is not an address of this machine: choose another host\n',
    )
  })

  test('if the endpoint does not respond', async () => {
    expect(await failure({ PORT: '0', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' })).toBe(
      'Cannot reach the store at http://127.0.0.1:9 (ECONNREFUSED): start it, or correct DYNAMODB_ENDPOINT\n',
    )
  })

  test('if AWS has no region', async () => {
    expect(await failure({ PORT: '0', STRONGROOM_STORE: 'aws' })).toBe(
      'STRONGROOM_STORE=aws needs a region: set AWS_REGION\n',
    )
  })

  test('if AWS has no credentials', async () => {
    const env = {
      PORT: '0',
      STRONGROOM_STORE: 'aws',
      AWS_REGION: 'eu-central-1',
      AWS_EC2_METADATA_DISABLED: 'true',
      HOME: '/nonexistent',
    }
    const stderr = await failure(env, strongroom)
    expect(stderr).toBe(
      'Cannot use DynamoDB in eu-central-1 (CredentialsProviderError): check AWS_REGION and the AWS credentials\n',
    )
  })

  test('if the IAM policy lacks an action', async () => {
    const server = createServer((_request, response) => {
      const message =
        'User: arn:aws:iam::111122223333:user/ada is not authorized to perform: dynamodb:ListTables on resource: arn:aws:dynamodb:eu-central-1:111122223333:table/* because no identity-based policy allows it'
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
      response.end(JSON.stringify({ __type: 'AccessDeniedException', message }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await failure({ PORT: '0', DYNAMODB_ENDPOINT: `http://127.0.0.1:${port}` })).toBe(
      'AWS denied dynamodb:ListTables on table/*: add it to the IAM policy of this process. "strongroom tables policy" prints what a server needs; functions get their roles from the stack.\n',
    )
    server.close()
  })

  test.runIf(inject('dynamodbLocal'))('an endpoint without the tables', async () => {
    const env = {
      PORT: '0',
      DYNAMODB_ENDPOINT: inject('dynamodbLocal') ?? '',
      STRONGROOM_TABLE_PREFIX: 'missing-',
    }
    expect(await failure(env)).toContain('run "strongroom tables create"')
  })
})
