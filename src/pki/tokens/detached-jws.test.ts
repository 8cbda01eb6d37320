import { expect, it } from 'vitest';
import { detachedJws } from './detached-jws.ts';

// The values of upstream's own test (k8s.io/cluster-bootstrap token/jws).
it.each([
  ['Hello from the other side. I must have called a thousand times.', 'VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8'],
  ['', '7Ui1ALizW4jXphVUB7xUqC9vLYLL9RZeOFfVLoB7Tgk'],
])('signs %j as upstream does', (content, signature) => {
  expect(detachedJws(content, 'joshua', 'my voice is my passcode')).toBe(
    `eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..${signature}`,
  );
});
