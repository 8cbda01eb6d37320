import { expect, it } from 'vitest';
import { isFile } from './load-image.ts';

it('takes a name for an image where a folder has it, and for a file where a file has it', () => {
  // Beside each other in the checkout, where tests run.
  const [folder, file] = ['src', 'package.json'];
  const files = [file, `./${folder}`, '../app', '/no/such', 'no-such.tar', 'no-such.tgz'];
  const images = [folder, 'app:1', 'registry.example.com/app'];
  expect([...files, ...images].filter(isFile)).toEqual(files);
});
