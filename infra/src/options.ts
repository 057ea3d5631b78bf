/** The options of a deployment, from `-c name=value` or the context of cdk.json. */

export interface StackOptions {
  /** The host name that people and programs use. */
  domain: string
  /** Receives the alarms. */
  email: string
  /** Of all names, such as `dev-`, so that several deployments can share an account. */
  prefix: string
  /** The value of the tag Environment. */
  environment: string
  /** Sealed on a host name of its own. */
  sealedDomain?: string
  /** The Route 53 zone of the domain. Without it you create the DNS records yourself. */
  hostedZoneId?: string
  /** A certificate of ACM in the region of the stack. Without it one is requested. */
  certificateArn?: string
  worker: 'lambda' | 'fargate'
  /** The container image of the worker on Fargate. */
  workerImage?: string
  logRetentionDays: number
  /** What API Gateway lets through, all clients together; webhooks have as much again. */
  requestsPerSecond: number
  /** Settings of the services, by the name of the environment variable. */
  settings: Readonly<Record<string, string>>
}

/** The message says which option to correct, and how. */
export class InvalidOption extends Error {
  override readonly name = 'InvalidOption'
}

/** The values that CloudWatch Logs accepts. */
const RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288,
  3653,
]

const HOST_NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/

interface Rule {
  isValid(value: string): boolean
  expects: string
}

const matches = (pattern: RegExp, expects: string): Rule => ({
  isValid: (value) => pattern.test(value),
  expects,
})

const rules = {
  domain: matches(HOST_NAME, 'a host name such as strongroom.example.com, without https://'),
  email: matches(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an e-mail address'),
  prefix: matches(
    /^(?:[a-z][a-z0-9-]{0,19})?$/,
    'up to 20 lower-case letters, digits and hyphens, the first one a letter',
  ),
  environment: matches(/^[\w.:/=+@ -]{1,256}$/, 'the value of a tag, such as production'),
  sealedDomain: matches(HOST_NAME, 'a host name such as sealed.example.com, without https://'),
  hostedZoneId: matches(/^Z[A-Z0-9]{3,31}$/, 'the id of a Route 53 zone, such as Z0123456789ABC'),
  certificateArn: matches(
    /^arn:[a-z0-9-]+:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
    'the ARN of a certificate of ACM in the region of the stack',
  ),
  worker: matches(/^(?:lambda|fargate)$/, 'lambda or fargate'),
  workerImage: matches(/^[\w.-]+(?::\d+)?\/[\w./-]+[:@][\w.:-]+$/, 'an image with its tag'),
  logRetentionDays: {
    isValid: (value: string) => RETENTION_DAYS.includes(Number(value)),
    expects: `one of ${RETENTION_DAYS.join(', ')}`,
  },
  requestsPerSecond: matches(/^[1-9]\d{0,4}$/, 'a number from 1 to 99999'),
} satisfies Record<string, Rule>

type Name = keyof typeof rules

/** @param context the value of `-c name=value`; undefined unless given. */
export function readOptions(context: (name: string) => unknown): StackOptions {
  const read = (name: Name): string | undefined => {
    const value = context(name)
    if (value === undefined) return undefined
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && rules[name].isValid(text)) return text
    throw new InvalidOption(`The option ${name} is invalid: expected ${rules[name].expects}`)
  }
  const required = (name: Name): string => {
    const value = read(name)
    if (value !== undefined) return value
    throw new InvalidOption(
      `The option ${name} is missing: add -c ${name}=…, ${rules[name].expects}`,
    )
  }
  const optional = <Key extends Name>(name: Key): { [key in Key]?: string } => {
    const value = read(name)
    return value === undefined ? {} : ({ [name]: value } as { [key in Key]?: string })
  }
  const worker = read('worker') === 'fargate' ? 'fargate' : 'lambda'
  const options: StackOptions = {
    domain: required('domain'),
    email: required('email'),
    prefix: read('prefix') ?? '',
    environment: read('environment') ?? 'production',
    ...optional('sealedDomain'),
    ...optional('hostedZoneId'),
    ...optional('certificateArn'),
    worker,
    ...optional('workerImage'),
    logRetentionDays: Number(read('logRetentionDays') ?? 30),
    requestsPerSecond: Number(read('requestsPerSecond') ?? 200),
    settings: readSettings(context('settings')),
  }
  requireConsistent(options)
  return options
}

function requireConsistent({ domain, sealedDomain, worker, workerImage }: StackOptions): void {
  if (sealedDomain === domain)
    throw new InvalidOption('The option sealedDomain is invalid: it must differ from domain')
  if (worker === 'fargate' && workerImage === undefined)
    throw new InvalidOption(
      'The option workerImage is missing: build the Dockerfile, push the image, and add -c workerImage=…',
    )
}

/** An object in cdk.json, or its JSON on the command line. */
function readSettings(value: unknown): Record<string, string> {
  if (value === undefined) return {}
  const settings: unknown = typeof value === 'string' ? parseJson(value) : value
  const isObject = typeof settings === 'object' && settings !== null && !Array.isArray(settings)
  if (!isObject || !Object.values(settings).every((each) => typeof each === 'string'))
    throw new InvalidOption(
      'The option settings is invalid: expected a JSON object of texts, such as {"FERRYHOOK_SIGNUP":"open"}',
    )
  return settings as Record<string, string>
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
