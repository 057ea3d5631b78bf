/**
 * Two KMS keys. One is Strongroom's own (`KMS_KEY_ARN`): it wraps branch keys and server secrets, so
 * disabling it makes secrets unreadable at once. The other encrypts tables at rest: disabling that one
 * would make DynamoDB archive them after seven days.
 */
import { CfnDeletionPolicy, Fn, type Stack } from 'aws-cdk-lib'
import { CfnAlias, CfnKey } from 'aws-cdk-lib/aws-kms'

export interface Keys {
  /** Wraps branch keys and server secrets. */
  own: CfnKey
  /** Encrypts tables at rest. */
  tables: CfnKey
}

export function createKeys(stack: Stack, prefix: string): Keys {
  const key = (id: string, alias: string, description: string) => {
    const created = new CfnKey(stack, id, {
      description,
      enableKeyRotation: true,
      pendingWindowInDays: 30,
      keyPolicy: KEY_POLICY,
    })
    // Whatever a lost key has encrypted is lost too.
    created.cfnOptions.deletionPolicy = CfnDeletionPolicy.RETAIN
    created.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN
    new CfnAlias(stack, `${id}Alias`, {
      aliasName: `alias/${prefix}${alias}`,
      targetKeyId: created.ref,
    })
    return created
  }
  return {
    own: key('Key', 'strongroom', 'Strongroom: wraps branch keys and server secrets'),
    tables: key('TableKey', 'strongroom-tables', 'Strongroom: encrypts tables at rest'),
  }
}

/**
 * The account decides by IAM policies who uses and who administers the key, as AWS recommends: a policy
 * that named roles would lose them when a role is created anew.
 */
const KEY_POLICY = {
  Version: '2012-10-17',
  Statement: [
    {
      Sid: 'IamPoliciesOfThisAccountDecide',
      Effect: 'Allow',
      Principal: { AWS: Fn.sub('arn:${AWS::Partition}:iam::${AWS::AccountId}:root') },
      Action: 'kms:*',
      Resource: '*',
    },
  ],
}
