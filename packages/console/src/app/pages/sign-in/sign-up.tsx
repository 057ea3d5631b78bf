/** `/sign-up#invite=…`: a new Ferryhook account, with an invite where the server requires one. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { hasCode } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { adoptSession, type SessionResponse } from '../../api/user-session.ts'
import { fieldProblem, TextField } from '../../parts/field.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty } from '../../parts/states.tsx'
import { navigate, takeFragment } from '../../router.ts'
import { Gate, GateForm, loadOptions, Providers } from './gate.tsx'

export default function SignUp() {
  const invite = useSignal<string | undefined>(undefined)
  useLayoutEffect(() => {
    invite.value = takeFragment().get('invite') ?? undefined
  }, [])
  const options = useResource(loadOptions)
  const policy = options.data.value?.signup
  const isClosed = policy === 'closed' || (policy === 'invite' && invite.value === undefined)
  return (
    <Gate
      name="Sign up"
      title="Create your account."
      text="Receive webhooks, verify them, and deliver them to your programs. None is lost."
      foot={
        <>
          You have an account? <a href="/console/sign-in">Sign in</a>
        </>
      }
    >
      {isClosed ? (
        <Empty
          glyph="locked"
          title={policy === 'closed' ? 'Sign-up is closed' : 'An invite is needed'}
        >
          {policy === 'closed'
            ? 'This server takes no new accounts. Ask whoever runs it for one.'
            : 'This server takes accounts by invite. Ask whoever runs it for a link.'}
        </Empty>
      ) : (
        <Form invite={invite.value} options={options.data.value} />
      )}
    </Gate>
  )
}

function Form(props: {
  invite: string | undefined
  options: Parameters<typeof Providers>[0]['options']
}) {
  const name = useSignal('')
  const email = useSignal('')
  const password = useSignal('')
  const problems = useSignal<Record<string, string | undefined>>({})
  const create = async () => {
    problems.value = {}
    const session = await request<SessionResponse>('POST', '/ferryhook/v1/auth/signup', {
      as: 'nobody',
      json: {
        name: name.value,
        email: email.value,
        password: password.value,
        ...(props.invite !== undefined && { invite: props.invite }),
      },
    })
    adoptSession(session)
    navigate('/', { replace: true, force: true })
  }
  const place = (error: unknown): boolean => {
    const found = {
      name: fieldProblem(error, 'name'),
      email: hasCode(error, 'ferryhook.email_taken')
        ? 'An account with this e-mail address exists. Sign in to that account.'
        : fieldProblem(error, 'email'),
      password: fieldProblem(error, 'password'),
    }
    problems.value = found
    return Object.values(found).some((text) => text !== undefined)
  }
  return (
    <GateForm
      label="Sign up"
      submit="Create account"
      onSubmit={create}
      onProblem={place}
      after={<Providers options={props.options} invite={props.invite} next="/" />}
    >
      <TextField
        class="input gate-input"
        label="Name"
        name="name"
        autocomplete="name"
        autofocus
        required
        maxLength={100}
        value={name.value}
        onInput={(value) => (name.value = value)}
        problem={problems.value['name']}
      />
      <TextField
        class="input gate-input"
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        required
        maxLength={254}
        value={email.value}
        onInput={(value) => (email.value = value)}
        problem={problems.value['email']}
      />
      <TextField
        class="input gate-input"
        label="Password"
        name="password"
        type="password"
        autocomplete="new-password"
        hint="At least 10 characters"
        required
        maxLength={256}
        value={password.value}
        onInput={(value) => (password.value = value)}
        problem={problems.value['password']}
      />
    </GateForm>
  )
}
