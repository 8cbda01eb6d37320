module sagong/spec/regexp

go 1.26
