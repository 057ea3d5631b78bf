/** Compares the policy of a role with the calls that its function made, as IAM evaluates them. */
import { runSimulation } from '@cloud-copilot/iam-simulate'
import { ACCOUNT } from './resolve.ts'

/** As the tests of packages/lambda record it; its README describes the fields. */
export interface RecordedCall {
  function: string
  service: 'dynamodb' | 'kms'
  action: string
  resources: string[]
  index?: string
  leadingKeys?: string[]
}

export interface Statement {
  Sid?: string
  Effect: string
  Action: string[]
  Resource: string[]
  Condition?: Record<string, Record<string, string[]>>
}

export interface Role {
  statements: readonly Statement[]
  /** Statements that AWS uses on behalf of the function, by Sid: no call has to use them. */
  onBehalf: ReadonlySet<string>
  /** The policy of the KMS key. */
  keyPolicy: unknown
}

export interface Request {
  action: string
  resource: string
  leadingKeys?: string[] | undefined
}

const LEADING_KEYS = 'dynamodb:LeadingKeys'

async function isAllowed(
  { action, resource, leadingKeys }: Request,
  statements: readonly Statement[],
  keyPolicy: unknown,
): Promise<boolean> {
  const result = await runSimulation(
    {
      request: {
        principal: `arn:aws:iam::${ACCOUNT}:role/function`,
        action,
        resource: { resource, accountId: ACCOUNT },
        contextVariables: leadingKeys ? { [LEADING_KEYS]: leadingKeys } : {},
      },
      identityPolicies: [
        { name: 'function', policy: { Version: '2012-10-17', Statement: statements } },
      ],
      serviceControlPolicies: [],
      resourceControlPolicies: [],
      ...(action.startsWith('kms:') && { resourcePolicy: keyPolicy }),
    },
    {},
  )
  if (result.resultType === 'error')
    throw new Error(`${action} on ${resource}: ${JSON.stringify(result.errors)}`)
  return result.overallResult === 'Allowed'
}

/** What a call needs, with ARNs by the names of tables. */
export function requestOf(
  call: RecordedCall,
  arns: { table: (name: string) => string; key: string },
): Request {
  const { service, action, index, leadingKeys } = call
  const [name = ''] = call.resources
  const table = service === 'kms' ? arns.key : arns.table(name)
  const resource = index === undefined ? table : `${table}/index/${index}`
  return { action: `${service}:${action}`, resource, leadingKeys }
}

/** The calls that the role denies, as text. */
export async function findDenied(role: Role, requests: readonly Request[]): Promise<string[]> {
  const denied: string[] = []
  for (const request of distinct(requests)) {
    if (!(await isAllowed(request, role.statements, role.keyPolicy))) denied.push(text(request))
  }
  return denied
}

/**
 * What the role allows and no call uses: each action on each resource of each statement. The patterns of
 * one statement count together.
 */
export async function findUnused(role: Role, requests: readonly Request[]): Promise<Request[]> {
  const single = distinct(requests.flatMap(oneForEachKey))
  const unused: Request[] = []
  for (const permission of role.statements.flatMap(permissionsOf)) {
    if (permission.Sid !== undefined && role.onBehalf.has(permission.Sid)) continue
    const [action = ''] = permission.Action
    const [resource = ''] = permission.Resource
    const candidates = single.filter((each) => each.action === action && each.resource === resource)
    let isUsed = false
    for (const request of candidates) {
      isUsed = await isAllowed(request, [permission], role.keyPolicy)
      if (isUsed) break
    }
    const leadingKeys = patternsOf(permission)
    if (!isUsed) unused.push({ action, resource, leadingKeys })
  }
  return unused
}

/** A statement for each action and resource. */
function permissionsOf(statement: Statement): Statement[] {
  return statement.Action.flatMap((action) =>
    statement.Resource.map((resource) => ({
      ...statement,
      Action: [action],
      Resource: [resource],
    })),
  )
}

function patternsOf({ Condition }: Statement): string[] | undefined {
  return Condition?.['ForAllValues:StringLike']?.[LEADING_KEYS]
}

/** A batch may read keys of several patterns. */
function oneForEachKey(request: Request): Request[] {
  const { leadingKeys } = request
  return leadingKeys ? leadingKeys.map((key) => ({ ...request, leadingKeys: [key] })) : [request]
}

function distinct(requests: readonly Request[]): Request[] {
  return [...new Map(requests.map((request) => [text(request), request])).values()]
}

export function text({ action, resource, leadingKeys }: Request): string {
  const name = resource.split(':').slice(5).join(':')
  return [action, 'on', name, ...(leadingKeys ? ['of', leadingKeys.join(', ')] : [])].join(' ')
}
